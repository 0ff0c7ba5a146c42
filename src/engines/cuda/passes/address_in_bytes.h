// Elements of several types behind one pointer are addressed in bytes.
//
//   a = gep float, p, i; b = gep packed_float3, p, i     ->     a = gep i8, p, 4 * i; b = gep i8, p, 12 * i
//
// LLVM 22's LoadStoreVectorizer, which NVPTX runs as well, takes the indices of two such addresses for the distance
// between them, whatever they are counted in: those above would be one. On the CPU, where that
// pass runs once, such addresses have names of their own while it does (simd/lane/prepare_lane.cpp).
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::engines::cuda {

void address_in_bytes(llvm::Module& module);

}  // namespace metalloid::engines::cuda
