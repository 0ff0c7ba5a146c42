#include "engines/simd/simdgroup/keep_loads_apart.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <vector>

namespace metalloid::engines::simd {
namespace {

using llvm::Value;

constexpr unsigned deepest = 4;          // operations below each other that may become one
constexpr unsigned register_bits = 512;  // constants of what takes several registers are used by each, and none's own

bool is_bitwise(const Value* value) {
  const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(value);
  return operation && operation->isBitwiseLogicOp();
}

// Through casts, which are none in a register.
Value* without_casts(Value* value) {
  while (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(value)) value = cast->getOperand(0);
  return value;
}

void keep_apart(llvm::LoadInst& load) {
  auto* apart = new llvm::FreezeInst(&load, "", std::next(load.getIterator()));
  load.replaceUsesWithIf(apart, [&](const llvm::Use& use) { return use.getUser() != apart; });
}

// What a bitwise operation consists of.
struct Leaves {
  llvm::SmallPtrSet<const Value*, 8> values;
  llvm::SmallVector<llvm::Use*, 4> constants;  // which code generation loads

  void add(Value* value, unsigned depth = 0) {
    Value* own = without_casts(value);
    values.insert(own);
    if (depth == deepest || !is_bitwise(own)) return;
    for (llvm::Use& operand : llvm::cast<llvm::Instruction>(own)->operands()) {
      const auto* constant = llvm::dyn_cast<llvm::Constant>(operand.get());
      if (!constant) {
        add(operand, depth + 1);
      } else if (!constant->isNullValue() && !constant->isAllOnesValue()) {
        constants.push_back(&operand);
      }
    }
  }
};

// Constants of operations where lanes keep the value of an operand.
void keep_constants_of(llvm::SelectInst& choice, std::vector<llvm::Use*>& constants) {
  llvm::Type* type = choice.getType();
  if (!choice.getCondition()->getType()->isVectorTy()) return;
  if (type->getPrimitiveSizeInBits() > register_bits || type->getScalarSizeInBits() < 32) return;
  for (const bool of_true : {true, false}) {
    Leaves leaves;
    leaves.add(of_true ? choice.getTrueValue() : choice.getFalseValue());
    Value* kept = without_casts(of_true ? choice.getFalseValue() : choice.getTrueValue());
    if (leaves.values.contains(kept))
      constants.insert(constants.end(), leaves.constants.begin(), leaves.constants.end());
  }
}

}  // namespace

void keep_loads_apart(llvm::Module& module) {
  std::vector<llvm::LoadInst*> loads;
  std::vector<llvm::Use*> constants;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (auto* choice = llvm::dyn_cast<llvm::SelectInst>(&instruction)) keep_constants_of(*choice, constants);
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (!load || !load->getType()->isVectorTy()) continue;
      const bool feeds = llvm::any_of(load->users(), [&](const llvm::User* user) {
        return is_bitwise(user) || (llvm::isa<llvm::BitCastInst>(user) && llvm::any_of(user->users(), is_bitwise));
      });
      if (feeds) loads.push_back(load);
    }
  }
  for (llvm::LoadInst* load : loads) keep_apart(*load);
  for (llvm::Use* use : constants) {
    auto* constant = llvm::dyn_cast<llvm::Constant>(use->get());
    if (!constant) continue;  // already
    auto* place = new llvm::GlobalVariable(module, constant->getType(), /*isConstant=*/true,
                                           llvm::GlobalValue::PrivateLinkage, constant);
    llvm::IRBuilder<> builder(llvm::cast<llvm::Instruction>(use->getUser()));
    use->set(builder.CreateFreeze(builder.CreateLoad(constant->getType(), place)));
  }
}

}  // namespace metalloid::engines::simd
