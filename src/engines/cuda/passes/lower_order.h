// Orders of memory: fences, and the scopes of atomic accesses, in the GPU's words.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <optional>

namespace metalloid::engines::cuda {

// What the three operands of a fence or barrier ask for: flags, order, scope (ir/operations.def).
class Ordering {
 public:
  // The operands begin with the call's `first`.
  Ordering(const llvm::CallInst& call, unsigned first);

  bool is_none() const;
  // Barriers order what the threads of their threadgroup do; only for more a fence is needed beside one.
  bool reaches_beyond_threadgroup() const;
  void create_fence(llvm::IRBuilder<>& builder) const;

 private:
  std::optional<std::uint32_t> flags_, order_, scope_;
};

// metalloid.fence, and atomic accesses: scopes of the threadgroup are a block's, those of the device the GPU's.
void lower_order(llvm::Module& module);

}  // namespace metalloid::engines::cuda
