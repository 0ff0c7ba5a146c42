// convert_exactly
//
//   uitofp (x & 15)             ->    bits (x & 15 | 0x4b000000) - 2^23
//   uitofp (x >> 4 & 15)        ->    fma(bits (x & 240 | 0x4b000000), 1 / 16, -2^19)
//
// of integers that masks leave less than 2^23 of, as packed weights: as many instructions with the same result, of
// which the GPU does twice as many at a time as conversions. And, which the assembler does not see of two constants:
//
//   x & 15 | 0x4b000000         ->    lop3 x, 15, 0x4b000000, (a & b | c)
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::engines::cuda {

void convert_exactly(llvm::Module& module);

}  // namespace metalloid::engines::cuda
