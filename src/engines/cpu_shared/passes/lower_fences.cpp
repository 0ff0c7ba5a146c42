#include "engines/cpu_shared/passes/lower_fences.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "ir/memory_ordering.h"
#include "ir/operations.h"

namespace metalloid::engines::cpu {
namespace {

void create_fence(llvm::IRBuilder<>& builder, const ir::MemoryOrdering& ordering) {
  builder.CreateFence(ordering.order(),
                      ordering.is_within_threadgroup() ? llvm::SyncScope::SingleThread : llvm::SyncScope::System);
}

void lower(llvm::CallInst& call) {
  const llvm::StringRef name = call.getCalledFunction() ? call.getCalledFunction()->getName() : "";
  if (name == llvm::StringRef(ir::fence_name)) {
    llvm::IRBuilder<> builder(&call);
    if (const ir::MemoryOrdering ordering(call); !ordering.is_none()) create_fence(builder, ordering);
    call.eraseFromParent();
  } else if (name == llvm::StringRef(ir::threadgroup_barrier_name) ||
             name == llvm::StringRef(ir::simdgroup_barrier_name)) {
    const ir::MemoryOrdering ordering(call);
    if (ordering.is_none() || ordering.is_within_threadgroup()) return;
    llvm::IRBuilder<> builder(&call);
    create_fence(builder, ordering);
    builder.SetInsertPoint(call.getNextNode());
    create_fence(builder, ordering);
  }
}

}  // namespace

void lower_fences(llvm::Module& module) {
  for (llvm::Function& function : module) {
    ir::set_atomic_scopes(function, llvm::SyncScope::SingleThread, llvm::SyncScope::System);
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) lower(*call);
    }
  }
}

}  // namespace metalloid::engines::cpu
