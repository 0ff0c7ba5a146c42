#include "checker/code/undefined_sources.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "checker/code/calls.h"
#include "checker/code/operations.h"
#include "checker/code/undefined_bits.h"
#include "ir/support/pointer_roots.h"

namespace metalloid::checker {

using llvm::AllocaInst;
using llvm::Value;

namespace {

llvm::StringRef callee_name(const Value& value) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&value);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee ? callee->getName() : llvm::StringRef();
}

}  // namespace

llvm::SmallVector<Value*, 8> roots_of(Value* address) {
  llvm::SmallPtrSet<Value*, 16> seen;
  llvm::SmallVector<Value*, 8> roots, open = {unchecked(address)};
  while (!open.empty()) {
    llvm::SmallVector<Value*, 8> found;
    ir::find_roots(open.pop_back_val(), seen, found);
    for (Value* root : found) (is_access_check(*root) ? open : roots).push_back(unchecked(root));
  }
  return roots;
}

Value* unchecked(Value* address) {
  while (is_access_check(*address)) address = llvm::cast<llvm::CallInst>(address)->getArgOperand(0);
  return address;
}

bool is_division_check(const Value& value) {
  return callee_name(value).starts_with(llvm::StringRef(check_division_name));
}

bool is_pure(const llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  return callee && callee->isDeclaration() && call.doesNotAccessMemory() && !call.isConvergent() &&
         !callee->getName().starts_with(llvm::StringRef(check_prefix)) && type_of_bits(call.getType());
}

UndefinedSources::UndefinedSources(llvm::Function& function) {
  look_at_addresses(function);
  for (AllocaInst* variable : begin_undefined_) add(variable);
  const llvm::PostDominatorTree order(function);
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (!is_division_check(instruction)) continue;
    auto& division = llvm::cast<llvm::CallInst>(instruction);
    if (!is_certainly_used(division, order)) values_.insert(&instruction);
  }
  for (bool changes = !values_.empty() || !variables_.empty(); changes;) {
    changes = false;
    for (llvm::Instruction& instruction : llvm::instructions(function)) changes |= spread(instruction);
  }
}

// Which variables' addresses go where they are not followed.
void UndefinedSources::look_at_addresses(llvm::Function& function) {
  const auto lose = [&](Value* address) {
    for (Value* root : roots_of(address)) {
      if (auto* variable = llvm::dyn_cast<AllocaInst>(root)) lost_.insert(variable);
    }
  };
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      if (callee_name(*call) == llvm::StringRef(check_variable_name)) {
        beginnings_.push_back(call);
        if (auto* variable = llvm::dyn_cast<AllocaInst>(call->getArgOperand(0))) begin_undefined_.insert(variable);
        continue;
      }
      if (is_access_check(*call) || call->isLifetimeStartOrEnd()) continue;
    }
    for (llvm::Use& use : instruction.operands()) {
      Value* operand = use.get();
      if (!operand->getType()->isPtrOrPtrVectorTy() || llvm::isa<llvm::Constant>(operand)) continue;
      const bool is_step = llvm::isa<llvm::GetElementPtrInst, llvm::PHINode, llvm::SelectInst, llvm::CastInst,
                                     llvm::FreezeInst, llvm::ICmpInst>(instruction) &&
                           !llvm::isa<llvm::PtrToIntInst>(instruction) && !operand->getType()->isVectorTy();
      if (is_step) continue;
      const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const bool is_access = llvm::isa<llvm::LoadInst, llvm::MemIntrinsic>(instruction) ||
                             (store && use.getOperandNo() == llvm::StoreInst::getPointerOperandIndex());
      if (is_access) {
        const auto roots = roots_of(operand);
        llvm::SmallVector<AllocaInst*, 2> own;
        for (Value* root : roots) {
          if (auto* variable = llvm::dyn_cast<AllocaInst>(root)) own.push_back(variable);
        }
        const bool is_alike = llvm::all_of(own, [&](AllocaInst* one) {
          return one->getAllocationSize(function.getDataLayout()) ==
                 own.front()->getAllocationSize(function.getDataLayout());
        });
        if (own.size() < roots.size() || !is_alike) {
          lost_.insert(own.begin(), own.end());
        } else if (own.size() > 1) {
          for (AllocaInst* variable : own) together_[variable].append(own.begin(), own.end());
        }
      } else if (!call || llvm::isa<llvm::IntrinsicInst>(call)) {
        lose(operand);
      }
      // Who is called with an address may write: follow_undefined takes that for written.
    }
  }
  llvm::SmallVector<AllocaInst*, 8> open(lost_.begin(), lost_.end());
  while (!open.empty()) {
    const auto found = together_.find(open.pop_back_val());
    if (found == together_.end()) continue;
    for (AllocaInst* other : found->second) {
      if (lost_.insert(other).second) open.push_back(other);
    }
  }
}

llvm::SmallVector<AllocaInst*, 2> UndefinedSources::variables_of(Value* address) const {
  llvm::SmallVector<AllocaInst*, 2> variables;
  for (Value* root : roots_of(address)) {
    auto* variable = llvm::dyn_cast<AllocaInst>(root);
    if (!variable || lost_.contains(variable)) return {};
    variables.push_back(variable);
  }
  return variables;
}

bool UndefinedSources::add(AllocaInst* variable) {
  constexpr std::uint64_t largest = 4096;  // bytes
  const auto size = variable->getAllocationSize(variable->getDataLayout());
  if (!size || size->isScalable() || size->getFixedValue() > largest) return false;
  if (lost_.contains(variable) || !variables_.insert(variable)) return false;
  const auto found = together_.find(variable);
  if (found != together_.end()) {
    for (AllocaInst* other : llvm::SmallVector<AllocaInst*, 2>(found->second)) add(other);
  }
  return true;
}

// Whether more may be undefined, now.
bool UndefinedSources::spread(llvm::Instruction& instruction) {
  bool changes = false;
  const auto reach = [&](Value* address) {
    for (AllocaInst* variable : variables_of(address)) changes |= add(variable);
  };
  const auto holds_undefined = [&](Value* address) {
    return llvm::any_of(variables_of(address), [&](AllocaInst* own) { return variables_.contains(own); });
  };
  const auto is_open = [&](const llvm::Use& operand) { return values_.contains(operand.get()); };
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    if (values_.contains(store->getValueOperand())) reach(store->getPointerOperand());
    return changes;
  }
  if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction)) {
    if (holds_undefined(copy->getRawSource())) reach(copy->getRawDest());
    return changes;
  }
  if (values_.contains(&instruction) || !type_of_bits(instruction.getType())) return false;
  bool is_undefined = false;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    is_undefined = !load->isAtomic() && holds_undefined(load->getPointerOperand());
  } else if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
    const bool passes = is_pure(*call) || is_access_check(*call) || is_division_check(*call);
    is_undefined = passes && llvm::any_of(call->args(), is_open);
  } else if (!instruction.mayReadOrWriteMemory() && !instruction.isTerminator() &&
             !llvm::isa<AllocaInst>(instruction)) {
    is_undefined = llvm::any_of(instruction.operands(), is_open);
  }
  if (is_undefined) values_.insert(&instruction);
  return is_undefined;
}

bool UndefinedSources::is_certainly_used(llvm::CallInst& division, const llvm::PostDominatorTree& order) {
  if (division.getType()->isVectorTy()) return false;
  llvm::SmallPtrSet<const Value*, 16> seen;
  llvm::SmallVector<const Value*, 16> open = {&division};
  while (!open.empty()) {
    const Value* value = open.pop_back_val();
    for (const llvm::User* user : value->users()) {
      const auto* instruction = llvm::cast<llvm::Instruction>(user);
      if (!order.dominates(instruction->getParent(), division.getParent())) continue;
      if (llvm::isa<llvm::BranchInst, llvm::SwitchInst, llvm::LoadInst>(instruction) || is_access_check(*instruction)) {
        return true;
      }
      if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(instruction)) {
        auto* address = const_cast<Value*>(store->getPointerOperand());
        if (value == address || llvm::none_of(roots_of(address), llvm::IsaPred<AllocaInst>)) return true;
        continue;
      }
      switch (instruction->getOpcode()) {
        case llvm::Instruction::Add:
        case llvm::Instruction::Sub:
        case llvm::Instruction::Mul:
        case llvm::Instruction::UDiv:
        case llvm::Instruction::SDiv:
        case llvm::Instruction::URem:
        case llvm::Instruction::SRem:
        case llvm::Instruction::ICmp:
        case llvm::Instruction::Trunc:
        case llvm::Instruction::ZExt:
        case llvm::Instruction::SExt:
        case llvm::Instruction::UIToFP:
        case llvm::Instruction::SIToFP:
        case llvm::Instruction::GetElementPtr:
          if (!instruction->getType()->isVectorTy() && seen.insert(instruction).second) open.push_back(instruction);
          break;
        default: break;
      }
    }
  }
  return false;
}

}  // namespace metalloid::checker
