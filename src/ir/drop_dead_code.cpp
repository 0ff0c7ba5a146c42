#include "ir/drop_dead_code.h"

#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/IPO/SCCP.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <utility>

#include "ir/pass_managers.h"

namespace metalloid::ir {

void drop_dead_code(llvm::Module& module) {
  PassManagers managers;
  const auto simplify = [] {
    llvm::FunctionPassManager functions;
    functions.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    functions.addPass(llvm::EarlyCSEPass());
    functions.addPass(llvm::SimplifyCFGPass());
    return llvm::createModuleToFunctionPassAdaptor(std::move(functions));
  };
  llvm::ModulePassManager passes;
  passes.addPass(simplify());
  passes.addPass(llvm::IPSCCPPass());
  passes.addPass(simplify());
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(module, managers.modules);
}

}  // namespace metalloid::ir
