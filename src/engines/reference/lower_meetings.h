// Turns barriers and cross-lane operations into calls of the engine's runtime.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace metalloid::engines::reference {

// True if threads of a threadgroup wait for each other anywhere in the module, which holds nothing but the kernel.
bool threads_meet(const llvm::Module& module);

//   %s = call float @metalloid.simd.sum.f32(float %x)     ->  %b = zext (bitcast %x to i32) to i64
//                                                             %r = call i64 @metalloid_cross_lane(state, site 3, %b, 0)
//                                                             %s = bitcast (trunc %r to i32) to float
//
// Sites are numbered so that code that runs earlier comes first, and all of a loop before what follows the loop: the
// engine lets lanes at the lowest site go on first, so lanes that lag behind catch up before the others proceed.
void lower_meetings(llvm::Module& module, llvm::Function& entry);

}  // namespace metalloid::engines::reference
