#include "engines/cuda/passes/lower_order.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "ir/operations.h"

namespace metalloid::engines::cuda {
namespace {

constexpr const char *block_scope = "block", *gpu_scope = "device";  // NVPTX's names

}  // namespace

void create_fence(llvm::IRBuilder<>& builder, const ir::MemoryOrdering& ordering) {
  const char* scope = ordering.is_within_threadgroup() ? block_scope : gpu_scope;
  builder.CreateFence(ordering.order(), builder.getContext().getOrInsertSyncScopeID(scope));
}

void lower_order(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  for (llvm::Function& function : module) {
    ir::set_atomic_scopes(function, context.getOrInsertSyncScopeID(block_scope),
                          context.getOrInsertSyncScopeID(gpu_scope));
  }
  llvm::Function* fence = module.getFunction(llvm::StringRef(ir::fence_name));
  if (!fence) return;
  for (llvm::User* user : llvm::make_early_inc_range(fence->users())) {
    auto* call = llvm::cast<llvm::CallInst>(user);
    llvm::IRBuilder<> builder(call);
    if (const ir::MemoryOrdering ordering(*call); !ordering.is_none()) create_fence(builder, ordering);
    call->eraseFromParent();
  }
}

}  // namespace metalloid::engines::cuda
