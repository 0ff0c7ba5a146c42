#include "checker/code/mark_variables.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <cstdint>

#include "checker/code/calls.h"
#include "checker/code/operations.h"

namespace metalloid::checker {
namespace {

using llvm::Value;

// One variable, and what the function does with its address.
class Variable {
 public:
  Variable(llvm::AllocaInst& variable, std::uint64_t size)
      : variable_(variable), layout_(variable.getModule()->getDataLayout()), size_(size) {
    collect(variable);
  }

  // Whether some write of the whole comes before all else.
  bool is_certainly_written(const llvm::DominatorTree& order) const {
    if (reads_.empty()) return true;
    return llvm::any_of(whole_writes_, [&](const llvm::Instruction* write) {
      return llvm::all_of(reads_, [&](const llvm::Instruction* read) { return order.dominates(write, read); });
    });
  }

 private:
  void collect(Value& address) {
    for (llvm::User* user : address.users()) {
      auto* instruction = llvm::cast<llvm::Instruction>(user);
      if (llvm::isa<llvm::GetElementPtrInst, llvm::BitCastInst>(instruction) || is_access_check(*instruction)) {
        collect(*instruction);
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(instruction);
                 store && store->getPointerOperand() == &address) {
        add_write(*store, address, layout_.getTypeStoreSize(store->getValueOperand()->getType()));
      } else if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(instruction);
                 memory && memory->getRawDest() == &address) {
        const auto* length = llvm::dyn_cast<llvm::ConstantInt>(memory->getLength());
        add_write(*memory, address, length ? length->getZExtValue() : 0);
      } else if (!instruction->isLifetimeStartOrEnd()) {
        reads_.push_back(instruction);
      }
    }
  }

  void add_write(llvm::Instruction& write, const Value& address, std::uint64_t bytes) {
    if (address.stripPointerCasts() == &variable_ && bytes >= size_) whole_writes_.push_back(&write);
  }

  llvm::AllocaInst& variable_;
  const llvm::DataLayout& layout_;
  const std::uint64_t size_;
  llvm::SmallVector<llvm::Instruction*, 8> reads_, whole_writes_;  // who gets the address may read, too
};

}  // namespace

void mark_variables(llvm::Function& function) {
  if (!function.getSubprogram()) return;   // the library's: it writes what it reads
  constexpr std::uint64_t largest = 4096;  // bytes
  llvm::SmallVector<llvm::AllocaInst*, 16> variables;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) variables.push_back(variable);
  }
  const llvm::DominatorTree order(function);
  for (llvm::AllocaInst* variable : variables) {
    const auto size = variable->getAllocationSize(function.getParent()->getDataLayout());
    if (!size || size->isScalable() || size->getFixedValue() == 0 || size->getFixedValue() > largest) continue;
    if (Variable(*variable, size->getFixedValue()).is_certainly_written(order)) continue;
    llvm::IRBuilder<> builder(variable->getNextNode());
    builder.CreateCall(operation(*function.getParent(), check_variable_name, builder.getVoidTy(), {builder.getPtrTy()}),
                       {variable});
  }
}

}  // namespace metalloid::checker
