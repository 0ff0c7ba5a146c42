#include "engines/reference/expand_masks.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <string>

#include "ir/masked_operations.h"
#include "ir/operations.h"
#include "ir/passes/normalise_attributes.h"

namespace metalloid::engines::reference {
namespace {

using llvm::Value;

class Expansion {
 public:
  explicit Expansion(llvm::Module& module)
      : module_(module),
        agree_(module.getOrInsertFunction(llvm::StringRef(agree_name), llvm::Type::getInt32Ty(module.getContext()),
                                          llvm::Type::getInt32Ty(module.getContext()))) {
    auto* function = llvm::cast<llvm::Function>(agree_.getCallee());
    function->addFnAttr(llvm::Attribute::Convergent);
    function->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  }

  void run() {
    for (llvm::Function& function : llvm::make_early_inc_range(module_)) {
      const std::string_view name = function.getName();
      const bool is_masked = name.starts_with(ir::masked_prefix) || name == ir::lanes_present_name ||
                             name == ir::lanes_where_name || name == ir::lanes_least_name;
      if (!is_masked) continue;
      for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
        replace(*llvm::cast<llvm::CallInst>(user), name);
      }
      function.eraseFromParent();
    }
    if (agree_.getCallee()->use_empty()) llvm::cast<llvm::Function>(agree_.getCallee())->eraseFromParent();
  }

 private:
  void replace(llvm::CallInst& call, std::string_view name) {
    llvm::IRBuilder<> builder(&call);
    llvm::SmallVector<Value*, 3> operands(call.args());
    if (!operands.empty()) {
      builder.CreateCall(agree_, {operands.front()});
      operands.erase(operands.begin());
    }
    Value* result = nullptr;
    if (name == ir::lanes_present_name) {
      result = ballot(builder, builder.getTrue());
    } else if (name == ir::lanes_where_name) {
      result = ballot(builder, operands.front());
    } else if (name == ir::lanes_least_name) {
      result = builder.CreateCall(ir::declare_operation(module_, "metalloid.simd.min.u32"), operands);
    } else {
      const std::string plain = std::string(ir::operation_prefix) + std::string(name.substr(ir::masked_prefix.size()));
      result = builder.CreateCall(ir::declare_operation(module_, plain), operands);
    }
    if (!call.getType()->isVoidTy()) call.replaceAllUsesWith(result);
    call.eraseFromParent();
  }

  Value* ballot(llvm::IRBuilder<>& builder, Value* holds) {
    Value* lanes = builder.CreateCall(ir::declare_operation(module_, "metalloid.simd.ballot"), {holds});
    return builder.CreateTrunc(lanes, builder.getInt32Ty());
  }

  llvm::Module& module_;
  llvm::FunctionCallee agree_;
};

}  // namespace

bool expand_masks(llvm::Module& module) {
  const llvm::Function* barrier = module.getFunction(llvm::StringRef(ir::threadgroup_barrier_name));
  const bool have_masks = !barrier || barrier->use_empty();
  Expansion(module).run();
  return have_masks;
}

}  // namespace metalloid::engines::reference
