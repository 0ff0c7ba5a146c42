#include "engines/simd/simdgroup/optimise_vectors.h"

#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <utility>

#include "engines/cpu_shared/passes/drop_repeated.h"
#include "ir/support/long_blocks.h"
#include "ir/support/pass_managers.h"
#include "ir/support/promote_variables.h"

namespace metalloid::engines::simd {

void optimise_vectors(llvm::Module& module, llvm::TargetMachine& machine) {
  for (llvm::Function& function : module) ir::join_blocks(function);
  for (llvm::Function& function : module) ir::promote_short_variables(function);
  ir::PassManagers managers(&machine);
  llvm::FunctionPassManager functions;
  // An address that is chosen between a lane's place and one that is always there is no branch.
  functions.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  functions.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  functions.addPass(llvm::SimplifyCFGPass());
  functions.addPass(llvm::InstCombinePass());
  functions.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopRotatePass()));
  functions.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  functions.addPass(cpu::DropRepeatedPass());
  functions.addPass(llvm::DSEPass());
  functions.addPass(llvm::InstCombinePass());
  functions.addPass(llvm::ADCEPass());
  functions.addPass(llvm::SimplifyCFGPass());
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(functions)));
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(module, managers.modules);
  for (llvm::Function& function : module) ir::split_long_blocks(function);
}

}  // namespace metalloid::engines::simd
