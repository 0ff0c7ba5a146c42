#include "ir/memory_ordering.h"

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>

#include "ir/operations.h"

namespace metalloid::ir {
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

}  // namespace

MemoryOrdering::MemoryOrdering(const llvm::CallInst& call, unsigned first)
    : flags_(constant_of(call.getArgOperand(first))),
      order_(constant_of(call.getArgOperand(first + 1))),
      scope_(constant_of(call.getArgOperand(first + 2))) {}

bool MemoryOrdering::is_none() const { return flags_ == 0U || order_ == number(MemoryOrder::relaxed); }

bool MemoryOrdering::is_within_threadgroup() const {
  if (flags_ && (*flags_ & ~number(threadgroup_memory)) == 0) return true;
  return scope_ == number(MemoryScope::thread) || scope_ == number(MemoryScope::simdgroup) ||
         scope_ == number(MemoryScope::threadgroup);
}

llvm::AtomicOrdering MemoryOrdering::order() const {
  if (order_ == number(MemoryOrder::acquire)) return llvm::AtomicOrdering::Acquire;
  if (order_ == number(MemoryOrder::release)) return llvm::AtomicOrdering::Release;
  if (order_ == number(MemoryOrder::acquire_release)) return llvm::AtomicOrdering::AcquireRelease;
  return llvm::AtomicOrdering::SequentiallyConsistent;
}

void set_atomic_scopes(llvm::Function& function, llvm::SyncScope::ID threadgroup, llvm::SyncScope::ID device) {
  const auto own = function.getContext().getOrInsertSyncScopeID(llvm::StringRef(threadgroup_scope_name));
  const auto set = [&](auto& access) { access.setSyncScopeID(access.getSyncScopeID() == own ? threadgroup : device); };
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (!instruction.isAtomic()) continue;
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) set(*load);
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) set(*store);
    if (auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) set(*change);
    if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) set(*exchange);
  }
}

}  // namespace metalloid::ir
