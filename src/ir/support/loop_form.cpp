#include "ir/support/loop_form.h"

#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

namespace metalloid::ir {

void form_loops(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  llvm::FunctionPassManager form;
  form.addPass(llvm::LoopSimplifyPass());
  form.addPass(llvm::LCSSAPass());
  form.run(function, analyses);
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
}

}  // namespace metalloid::ir
