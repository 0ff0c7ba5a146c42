// What fences, barriers and atomic accesses order (operations.def), for engines that make their own of it.
#pragma once

#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <optional>

namespace metalloid::ir {

// What the three operands of a fence or barrier ask for: flags, order, scope. Those that are no constants count as the
// strongest.
class MemoryOrdering {
 public:
  // The operands begin with the call's `first`.
  explicit MemoryOrdering(const llvm::CallInst& call, unsigned first = 0);

  bool is_none() const;
  // Nothing that other threadgroups see.
  bool is_within_threadgroup() const;
  llvm::AtomicOrdering order() const;

 private:
  std::optional<std::uint32_t> flags_, order_, scope_;
};

// Atomic accesses get the engine's scopes in place of those of operations.h.
void set_atomic_scopes(llvm::Function& function, llvm::SyncScope::ID threadgroup, llvm::SyncScope::ID device);

}  // namespace metalloid::ir
