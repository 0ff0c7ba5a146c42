#include "engines/cuda/passes/lower_order.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>

#include "ir/operations.h"

namespace metalloid::engines::cuda {
namespace {

std::optional<std::uint32_t> constant_of(const llvm::Value* value) {
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value);
  if (!number) return std::nullopt;
  return static_cast<std::uint32_t>(number->getZExtValue());
}

template <typename Enumeration>
std::uint32_t number(Enumeration value) {
  return static_cast<std::uint32_t>(value);
}

template <typename Atomic>
void set_scope(Atomic& access) {
  llvm::LLVMContext& context = access.getContext();
  const auto threadgroup = context.getOrInsertSyncScopeID(llvm::StringRef(ir::threadgroup_scope_name));
  access.setSyncScopeID(context.getOrInsertSyncScopeID(access.getSyncScopeID() == threadgroup ? "block" : "device"));
}

}  // namespace

Ordering::Ordering(const llvm::CallInst& call, unsigned first)
    : flags_(constant_of(call.getArgOperand(first))),
      order_(constant_of(call.getArgOperand(first + 1))),
      scope_(constant_of(call.getArgOperand(first + 2))) {}

bool Ordering::is_none() const { return flags_ == 0U || order_ == number(ir::MemoryOrder::relaxed); }

bool Ordering::reaches_beyond_threadgroup() const {
  if (is_none()) return false;
  if (flags_ && (*flags_ & ~number(ir::threadgroup_memory)) == 0) return false;
  return !scope_ || *scope_ == number(ir::MemoryScope::device) || *scope_ == number(ir::MemoryScope::system);
}

void Ordering::create_fence(llvm::IRBuilder<>& builder) const {
  const char* scope = reaches_beyond_threadgroup() ? "device" : "block";
  llvm::AtomicOrdering order = llvm::AtomicOrdering::SequentiallyConsistent;
  if (order_ == number(ir::MemoryOrder::acquire)) order = llvm::AtomicOrdering::Acquire;
  if (order_ == number(ir::MemoryOrder::release)) order = llvm::AtomicOrdering::Release;
  if (order_ == number(ir::MemoryOrder::acquire_release)) order = llvm::AtomicOrdering::AcquireRelease;
  builder.CreateFence(order, builder.getContext().getOrInsertSyncScopeID(scope));
}

void lower_order(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
        const llvm::Function* callee = call->getCalledFunction();
        if (!callee || callee->getName() != llvm::StringRef(ir::fence_name)) continue;
        llvm::IRBuilder<> builder(call);
        if (const Ordering ordering(*call, 0); !ordering.is_none()) ordering.create_fence(builder);
        call->eraseFromParent();
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

}  // namespace metalloid::engines::cuda
