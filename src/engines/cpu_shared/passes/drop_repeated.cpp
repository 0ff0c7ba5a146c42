#include "engines/cpu_shared/passes/drop_repeated.h"

#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>

#include "ir/support/pass_managers.h"

namespace metalloid::engines::cpu {

llvm::PreservedAnalyses DropRepeatedPass::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) const {
  const bool is_large = function.getInstructionCount() >= least_large_;
  return is_large ? llvm::EarlyCSEPass(/*UseMemorySSA=*/true).run(function, analyses)
                  : llvm::GVNPass().run(function, analyses);
}

void drop_repeated(llvm::Function& function, unsigned least_large) {
  ir::PassManagers managers;
  DropRepeatedPass(least_large).run(function, managers.functions);
}

}  // namespace metalloid::engines::cpu
