#include "checker/code/track_variables.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/Utils/Local.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <cstdint>

#include "checker/code/calls.h"
#include "checker/code/operations.h"
#include "metalloid/check.h"

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

  // Whether some write of the whole comes before all reads.
  bool is_certainly_written(const llvm::DominatorTree& order) const {
    if (reads_.empty()) return true;
    for (const llvm::Instruction* write : whole_writes_) {
      bool is_first = true;
      for (const llvm::Instruction* read : reads_) is_first &= order.dominates(write, read);
      if (is_first) return true;
    }
    return false;
  }

  void track() {
    llvm::IRBuilder<> builder(&variable_);
    shadow_ = builder.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), size_), nullptr,
                                   variable_.getName() + ".written");
    if (starts_.empty()) set_all(builder, 0);
    for (llvm::Instruction* start : starts_) {
      builder.SetInsertPoint(start->getNextNode());
      set_all(builder, 0);
    }
    for (llvm::Instruction* write : writes_) mark(*write);
    for (llvm::Instruction* read : reads_) test(*read);
  }

 private:
  void collect(Value& address) {
    for (llvm::User* user : address.users()) {
      auto* instruction = llvm::cast<llvm::Instruction>(user);
      if (llvm::isa<llvm::GetElementPtrInst, llvm::BitCastInst>(instruction) || is_checked_address(*instruction)) {
        collect(*instruction);
      } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction)) {
        reads_.push_back(load);
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(instruction);
                 store && store->getPointerOperand() == &address) {
        add_write(*store, address, layout_.getTypeStoreSize(store->getValueOperand()->getType()));
      } else if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(instruction)) {
        // A copy takes what is there, gaps between members too.
        if (memory->getRawDest() == &address) {
          const auto* length = llvm::dyn_cast<llvm::ConstantInt>(memory->getLength());
          add_write(*memory, address, length ? length->getZExtValue() : 0);
        }
      } else if (instruction->isLifetimeStartOrEnd()) {
        if (llvm::cast<llvm::IntrinsicInst>(instruction)->getIntrinsicID() == llvm::Intrinsic::lifetime_start) {
          starts_.push_back(instruction);
        }
      } else {
        // Whoever gets the address may write.
        writes_.push_back(instruction);
        whole_writes_.push_back(instruction);
      }
    }
  }

  // What a check of an access returns is the address that it was given.
  static bool is_checked_address(const Value& value) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&value);
    const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    return callee && callee->getName().starts_with(llvm::StringRef(check_access_name));
  }

  void add_write(llvm::Instruction& write, const Value& address, std::uint64_t bytes) {
    writes_.push_back(&write);
    if (address.stripPointerCasts() == &variable_ && bytes >= size_) whole_writes_.push_back(&write);
  }

  // Bytes from the variable's beginning; null if the address is not made of it by steps that are known.
  Value* offset_of(llvm::IRBuilder<>& builder, Value& address) {
    if (&address == &variable_) return builder.getInt64(0);
    if (is_checked_address(address)) return offset_of(builder, *llvm::cast<llvm::CallInst>(address).getArgOperand(0));
    if (auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(&address)) {
      Value* base = offset_of(builder, *element->getPointerOperand());
      return base ? builder.CreateAdd(base, llvm::emitGEPOffset(&builder, layout_, element, true)) : nullptr;
    }
    return nullptr;
  }

  // The shadow's place for so many bytes from an address on; null if it is not known. Where an index leads out of the
  // variable, which is checked elsewhere, it is the shadow's beginning.
  Value* shadow_of(llvm::IRBuilder<>& builder, Value& address, std::uint64_t bytes) {
    if (bytes > size_) return nullptr;
    Value* offset = offset_of(builder, address);
    if (!offset) return nullptr;
    Value* is_inside = builder.CreateICmpULE(offset, builder.getInt64(size_ - bytes));
    return builder.CreateGEP(builder.getInt8Ty(), shadow_,
                             builder.CreateSelect(is_inside, offset, builder.getInt64(0)));
  }

  void set_all(llvm::IRBuilder<>& builder, std::uint8_t value) {
    builder.CreateMemSet(shadow_, builder.getInt8(value), size_, llvm::MaybeAlign(1));
  }

  void mark(llvm::Instruction& write) {
    llvm::IRBuilder<> builder(&write);
    Value* address = nullptr;
    std::uint64_t bytes = 0;
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&write)) {
      address = store->getPointerOperand();
      bytes = layout_.getTypeStoreSize(store->getValueOperand()->getType());
    } else if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&write)) {
      const auto* length = llvm::dyn_cast<llvm::ConstantInt>(memory->getLength());
      if (length) address = memory->getRawDest();
      if (length) bytes = length->getZExtValue();
    }
    Value* place = address ? shadow_of(builder, *address, bytes) : nullptr;
    if (!place) return set_all(builder, 1);
    builder.CreateMemSet(place, builder.getInt8(1), bytes, llvm::MaybeAlign(1));
  }

  void test(llvm::Instruction& read) {
    auto& load = llvm::cast<llvm::LoadInst>(read);
    llvm::Type* type = load.getType();
    const std::uint64_t bytes = layout_.getTypeStoreSize(type);
    if (!type->isSingleValueType() || bytes > 16) return;  // a copy of a struct
    llvm::IRBuilder<> builder(&load);
    Value* place = shadow_of(builder, *load.getPointerOperand(), bytes);
    if (!place) return;
    Value* written =
        builder.CreateAlignedLoad(builder.getIntNTy(static_cast<unsigned>(8 * bytes)), place, llvm::Align(1));
    Value* holds = builder.CreateICmpNE(written, llvm::Constant::getNullValue(written->getType()));
    llvm::Module& module = *load.getModule();
    builder.CreateCall(operation(module, check_expect_name, builder.getVoidTy(),
                                 {builder.getInt1Ty(), builder.getInt32Ty(), builder.getPtrTy()}),
                       {holds, builder.getInt32(static_cast<std::uint32_t>(CheckClass::uninitialised)),
                        builder.CreateGlobalString(variable_.getName())});
  }

  llvm::AllocaInst& variable_;
  const llvm::DataLayout& layout_;
  const std::uint64_t size_;
  llvm::AllocaInst* shadow_ = nullptr;
  llvm::SmallVector<llvm::Instruction*, 8> reads_, writes_, whole_writes_, starts_;
};

}  // namespace

void track_variables(llvm::Function& function) {
  if (!function.getSubprogram()) return;  // the library's: it writes what it reads
  constexpr std::uint64_t largest = 4096;  // bytes
  llvm::SmallVector<llvm::AllocaInst*, 16> variables;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) variables.push_back(variable);
  }
  const llvm::DominatorTree order(function);
  for (llvm::AllocaInst* alloca : variables) {
    const auto size = alloca->getAllocationSize(function.getParent()->getDataLayout());
    if (!size || size->isScalable() || size->getFixedValue() == 0 || size->getFixedValue() > largest) continue;
    Variable variable(*alloca, size->getFixedValue());
    if (!variable.is_certainly_written(order)) variable.track();
  }
}

}  // namespace metalloid::checker
