#include "ir/bounds/lower_bounds_checks.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "ir/bounds/check_bounds.h"

namespace metalloid::ir {

using llvm::Value;

Value* bounds_limit(llvm::IRBuilderBase& builder, Value* available, std::uint64_t bytes) {
  return builder.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, available, builder.getInt64(bytes - 1));
}

Value* is_inside(llvm::IRBuilderBase& builder, Value* offset, Value* bytes, Value* available) {
  if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(bytes)) {
    return builder.CreateICmpULT(offset, bounds_limit(builder, available, constant->getZExtValue()));
  }
  Value* starts = builder.CreateICmpULE(offset, available);
  Value* ends = builder.CreateICmpULE(bytes, builder.CreateSub(available, offset));
  Value* nothing = builder.CreateICmpEQ(bytes, builder.getInt64(0));
  return builder.CreateOr(nothing, builder.CreateAnd(starts, ends));
}

void lower_bounds_checks(llvm::Module& module,
                         llvm::function_ref<void(llvm::IRBuilderBase& builder, llvm::CallInst& check)> report) {
  llvm::Function* checks = module.getFunction(llvm::StringRef(check_bounds_name));
  if (!checks) return;
  for (llvm::User* user : llvm::make_early_inc_range(checks->users())) {
    auto* call = llvm::cast<llvm::CallInst>(user);
    llvm::IRBuilder<> builder(call);
    Value* inside = is_inside(builder, call->getArgOperand(0), call->getArgOperand(1), call->getArgOperand(2));
    llvm::MDNode* unlikely = llvm::MDBuilder(module.getContext()).createUnlikelyBranchWeights();
    llvm::Instruction* maybe = llvm::SplitBlockAndInsertIfThen(builder.CreateNot(inside), call->getIterator(),
                                                               /*Unreachable=*/false, unlikely);
    builder.SetInsertPoint(maybe);
    Value* front = builder.CreateLoad(builder.getInt64Ty(), call->getArgOperand(3));
    inside = is_inside(builder, builder.CreateAdd(call->getArgOperand(0), front), call->getArgOperand(1),
                       builder.CreateAdd(call->getArgOperand(2), front));
    llvm::Instruction* end = llvm::SplitBlockAndInsertIfThen(builder.CreateNot(inside), maybe->getIterator(),
                                                             /*Unreachable=*/true, unlikely);
    builder.SetInsertPoint(end);
    report(builder, *call);
    end->eraseFromParent();
    call->eraseFromParent();
  }
  checks->eraseFromParent();
}

}  // namespace metalloid::ir
