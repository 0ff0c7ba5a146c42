#include "ir/passes/simplify.h"

#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <utility>

#include "ir/support/long_blocks.h"
#include "ir/support/pass_managers.h"

namespace metalloid::ir {

void simplify(llvm::Module& module) {
  PassManagers managers;
  llvm::FunctionPassManager functions;
  functions.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  functions.addPass(SplitLongBlocksPass());
  functions.addPass(llvm::InstCombinePass());
  functions.addPass(llvm::SimplifyCFGPass());
  functions.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  functions.addPass(llvm::ADCEPass());
  functions.addPass(llvm::SimplifyCFGPass());
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(functions)));
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(module, managers.modules);
}

}  // namespace metalloid::ir
