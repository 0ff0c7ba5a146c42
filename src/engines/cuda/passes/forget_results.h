// forget_results
//
//   atomicrmw fadd p, a                    p % 16 == 0 ?  red.v4.f32.add [p], {a, b, c, d}
//   atomicrmw fadd p + 4, b          ->                :  red.f32.add [p], a   ... [p + 12], d
//   atomicrmw fadd p + 8, c
//   atomicrmw fadd p + 12, d
//
// Atomic operations on device memory whose results nobody asks for are the GPU's reductions, which do not wait for what
// was there before: NVIDIA's assembler finds that out in short kernels only. Floats that lie together are added at
// once, from compute capability 9.0 on. Of relaxed operations alone, whose order among different addresses nobody sees.
#pragma once

#include <llvm/IR/Module.h>

#include "engines/cuda/code/target.h"

namespace metalloid::engines::cuda {

void forget_results(llvm::Module& module, const Target& target);

}  // namespace metalloid::engines::cuda
