#include "ir/passes/resolve_indirect_calls.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <cstdint>
#include <vector>

namespace metalloid::ir {
namespace {

bool is_call_of(const llvm::Use& use) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(use.getUser());
  return call && call->isCallee(&use);
}

// Functions with bodies that something other than a call names.
std::vector<llvm::Function*> functions_with_addresses(llvm::Module& module) {
  std::vector<llvm::Function*> functions;
  for (llvm::Function& function : module) {
    function.removeDeadConstantUsers();
    if (function.isDeclaration()) continue;
    if (!llvm::all_of(function.uses(), is_call_of)) functions.push_back(&function);
  }
  return functions;
}

// Multiples of 16: pointers to members keep a flag in the lowest bit.
std::uint64_t number_of(std::size_t index) { return 16 * (index + 1); }

llvm::Constant* number_for(llvm::Function& function, std::size_t index) {
  auto* word = llvm::Type::getInt64Ty(function.getContext());
  return llvm::ConstantExpr::getIntToPtr(llvm::ConstantInt::get(word, number_of(index)), function.getType());
}

void resolve(llvm::CallInst& call, const std::vector<llvm::Function*>& functions) {
  llvm::BasicBlock* before = call.getParent();
  llvm::Function* caller = before->getParent();
  llvm::LLVMContext& context = caller->getContext();
  llvm::BasicBlock* after = before->splitBasicBlock(std::next(call.getIterator()));
  llvm::BasicBlock* nowhere = llvm::BasicBlock::Create(context, "", caller, after);
  llvm::IRBuilder<> builder(nowhere);
  builder.SetCurrentDebugLocation(call.getDebugLoc());
  builder.CreateIntrinsic(llvm::Intrinsic::trap, {});
  builder.CreateUnreachable();

  before->getTerminator()->eraseFromParent();
  builder.SetInsertPoint(before);
  llvm::Value* number = builder.CreatePtrToInt(call.getCalledOperand(), builder.getInt64Ty());
  llvm::SwitchInst* choice = builder.CreateSwitch(number, nowhere);
  llvm::PHINode* result = nullptr;
  if (!call.getType()->isVoidTy()) {
    builder.SetInsertPoint(after, after->begin());
    result = builder.CreatePHI(call.getType(), 2);
  }
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (functions[i]->getFunctionType() != call.getFunctionType()) continue;
    llvm::BasicBlock* block = llvm::BasicBlock::Create(context, "", caller, after);
    builder.SetInsertPoint(block);
    auto* direct = llvm::cast<llvm::CallInst>(call.clone());
    direct->setCalledFunction(functions[i]);
    direct->setCallingConv(functions[i]->getCallingConv());
    builder.Insert(direct);
    builder.CreateBr(after);
    choice->addCase(builder.getInt64(number_of(i)), block);
    if (result) result->addIncoming(direct, block);
  }
  if (result) {
    if (result->getNumIncomingValues() == 0) {
      call.replaceAllUsesWith(llvm::PoisonValue::get(call.getType()));  // nothing gets here
      result->eraseFromParent();
    } else {
      call.replaceAllUsesWith(result);
    }
  }
  call.eraseFromParent();
}

}  // namespace

void resolve_indirect_calls(llvm::Module& module) {
  const std::vector<llvm::Function*> functions = functions_with_addresses(module);
  llvm::SmallVector<llvm::CallInst*, 8> calls;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call && !call->isInlineAsm() && !llvm::isa<llvm::Function>(call->getCalledOperand()->stripPointerCasts())) {
        calls.push_back(call);
      }
    }
  }
  for (llvm::CallInst* call : calls) resolve(*call, functions);
  for (std::size_t i = 0; i < functions.size(); ++i) {
    functions[i]->replaceUsesWithIf(number_for(*functions[i], i), [](llvm::Use& use) { return !is_call_of(use); });
  }
}

}  // namespace metalloid::ir
