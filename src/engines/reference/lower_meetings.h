// Turns barriers and operations across lanes, those on matrices too, into calls of the engine's runtime.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace metalloid::engines::reference {

//   %s = call float @metalloid.simd.sum.f32(float %x)     ->  %b = zext (bitcast %x to i32) to i64
//                                                             %r = call i64 @metalloid_cross_lane(state, site 3, %b, -,
//                                                             -) %s = bitcast (trunc %r to i32) to float
//
// Sites are numbered in the order of ir/meeting_order.h: the engine lets lanes at the lowest site go on first.
void lower_meetings(llvm::Module& module, llvm::Function& entry);

}  // namespace metalloid::engines::reference
