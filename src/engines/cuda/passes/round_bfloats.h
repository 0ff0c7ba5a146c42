// round_bfloats
//
//   (is_nan(bits) ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1)) >> 16    ->    cvt.rn.bf16.f32
//
// Floats that the library rounds to bfloat in whole numbers (metalloid/bfloat.h) are rounded by the GPU's instruction,
// in one place of eight. Of NaNs it makes 0x7fff, as that for half does.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::engines::cuda {

void round_bfloats(llvm::Module& module);

}  // namespace metalloid::engines::cuda
