#include "checker/code/drop_private_checks.h"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <cstdint>
#include <string>

#include "checker/code/calls.h"
#include "checker/code/operations.h"
#include "ir/support/pass_managers.h"

namespace metalloid::checker {
namespace {

bool is_plainly_private(llvm::CallInst& check, const llvm::DataLayout& layout) {
  const auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(check.getArgOperand(1));
  if (!bytes) return false;
  llvm::APInt offset(64, 0);
  const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(
      check.getArgOperand(0)->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true));
  if (!variable) return false;
  const auto size = variable->getAllocationSize(layout);
  const bool is_inside = size && !size->isScalable() && offset.isNonNegative() &&
                         offset.getZExtValue() + bytes->getZExtValue() <= size->getFixedValue();
  const auto flags = static_cast<std::uint32_t>(llvm::cast<llvm::ConstantInt>(check.getArgOperand(3))->getZExtValue());
  if (is_inside && (offset - bytes_behind(flags)).countr_zero() < alignment_of(flags)) {
    llvm::IRBuilder<> builder(&check);
    make_expectation(builder, builder.getFalse(), CheckClass::misaligned, variable->getName().split('.').first);
  }
  return is_inside;
}

bool drop_round(llvm::Module& module) {
  bool changed = false;
  for (unsigned space = 0; space < 4; ++space) {
    for (llvm::CallInst* check : calls_of(module, std::string(check_access_name) + std::to_string(space))) {
      if (!is_plainly_private(*check, module.getDataLayout())) continue;
      check->replaceAllUsesWith(check->getArgOperand(0));
      check->eraseFromParent();
      changed = true;
    }
  }
  return changed;
}

}  // namespace

void drop_private_checks(llvm::Module& module) {
  // Each round shows the variables that addresses in variables lead to.
  constexpr int most_rounds = 4;
  for (int round = 0; round < most_rounds && drop_round(module); ++round) {
    ir::PassManagers managers;
    llvm::FunctionPassManager functions;
    functions.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    functions.addPass(llvm::EarlyCSEPass());
    functions.addPass(llvm::SimplifyCFGPass());
    llvm::ModulePassManager passes;
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(functions)));
    passes.run(module, managers.modules);
  }
}

}  // namespace metalloid::checker
