#include "engines/cpu_shared/passes/lower_fences.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <optional>

#include "ir/operations.h"

namespace metalloid::engines::cpu {
namespace {

std::optional<std::uint32_t> constant_of(const llvm::CallInst& call, unsigned operand) {
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(operand));
  if (!number) return std::nullopt;
  return static_cast<std::uint32_t>(number->getZExtValue());
}

// What the three operands of a fence or barrier ask for.
class Ordering {
 public:
  explicit Ordering(const llvm::CallInst& call)
      : flags_(constant_of(call, 0)), order_(constant_of(call, 1)), scope_(constant_of(call, 2)) {}

  bool is_none() const { return flags_ == 0u || order_ == number(ir::MemoryOrder::relaxed); }

  bool is_within_threadgroup() const {
    if (flags_ && (*flags_ & ~static_cast<std::uint32_t>(ir::threadgroup_memory)) == 0) return true;
    return scope_ == number(ir::MemoryScope::thread) || scope_ == number(ir::MemoryScope::simdgroup) ||
           scope_ == number(ir::MemoryScope::threadgroup);
  }

  void create(llvm::IRBuilder<>& builder) const {
    builder.CreateFence(order(), is_within_threadgroup() ? llvm::SyncScope::SingleThread : llvm::SyncScope::System);
  }

 private:
  template <typename Enumeration>
  static std::uint32_t number(Enumeration value) {
    return static_cast<std::uint32_t>(value);
  }

  llvm::AtomicOrdering order() const {
    if (order_ == number(ir::MemoryOrder::acquire)) return llvm::AtomicOrdering::Acquire;
    if (order_ == number(ir::MemoryOrder::release)) return llvm::AtomicOrdering::Release;
    if (order_ == number(ir::MemoryOrder::acquire_release)) return llvm::AtomicOrdering::AcquireRelease;
    return llvm::AtomicOrdering::SequentiallyConsistent;
  }

  std::optional<std::uint32_t> flags_, order_, scope_;
};

void lower(llvm::CallInst& call) {
  const llvm::StringRef name = call.getCalledFunction() ? call.getCalledFunction()->getName() : "";
  if (name == llvm::StringRef(ir::fence_name)) {
    llvm::IRBuilder<> builder(&call);
    if (const Ordering ordering(call); !ordering.is_none()) ordering.create(builder);
    call.eraseFromParent();
  } else if (name == llvm::StringRef(ir::threadgroup_barrier_name) ||
             name == llvm::StringRef(ir::simdgroup_barrier_name)) {
    const Ordering ordering(call);
    if (ordering.is_none() || ordering.is_within_threadgroup()) return;
    llvm::IRBuilder<> builder(&call);
    ordering.create(builder);
    builder.SetInsertPoint(call.getNextNode());
    ordering.create(builder);
  }
}

template <typename Atomic>
void set_scope(Atomic& access) {
  const auto threadgroup = access.getContext().getOrInsertSyncScopeID(llvm::StringRef(ir::threadgroup_scope_name));
  access.setSyncScopeID(access.getSyncScopeID() == threadgroup ? llvm::SyncScope::SingleThread
                                                               : llvm::SyncScope::System);
}

}  // namespace

void lower_fences(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
        lower(*call);
        continue;
      }
      if (!instruction.isAtomic()) continue;
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) set_scope(*load);
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) set_scope(*store);
      if (auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) set_scope(*change);
      if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) set_scope(*exchange);
    }
  }
}

}  // namespace metalloid::engines::cpu
