// quick_math
//
//   %y = call afn float @llvm.exp.f32(float %x)   ->   x log2(e) in two parts; ex2.approx of the first, corrected
//
// Functions that may be approximate (afn, of fast and relaxed math) become the GPU's own instructions where those meet
// the bounds of MSL spec §8.4: exp, exp2 and tanh. All others are the ones that every engine has (ir/math).
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::engines::cuda {

void quick_math(llvm::Module& module);

}  // namespace metalloid::engines::cuda
