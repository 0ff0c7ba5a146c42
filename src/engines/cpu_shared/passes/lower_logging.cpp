#include "engines/cpu_shared/passes/lower_logging.h"

#include <fmt/format.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <string>

#include "engines/cpu_shared/kernel_abi.h"
#include "engines/cpu_shared/passes/thread_state.h"
#include "ir/operations.h"

namespace metalloid::engines::cpu {

bool lower_logging(llvm::Module& module, llvm::Function& entry) {
  llvm::Function* operation = module.getFunction(llvm::StringRef(ir::log_name));
  if (!operation || operation->use_empty()) return false;
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  llvm::Type* number = llvm::Type::getInt32Ty(context);
  llvm::FunctionType* type = operation->getFunctionType();
  llvm::Type* constant = type->getParamType(2);
  auto runtime =
      module.getOrInsertFunction(llvm::StringRef(log_name), llvm::Type::getVoidTy(context), pointer, number, number,
                                 pointer, constant, constant, constant, type->getParamType(5), number);
  llvm::cast<llvm::Function>(runtime.getCallee())->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::DenseMap<llvm::Function*, llvm::Value*> states;
  for (llvm::User* user : llvm::make_early_inc_range(operation->users())) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (!call) continue;
    llvm::Value*& state = states[call->getFunction()];
    if (!state) state = state_in(*call->getFunction(), entry);
    llvm::IRBuilder<> builder(call);
    const llvm::DILocation* location = call->getDebugLoc().get();
    const std::string where =
        location ? fmt::format("{}:{}", location->getFilename().str(), location->getLine()) : std::string();
    builder.CreateCall(runtime, {state, call->getArgOperand(0), call->getArgOperand(1),
                                 builder.CreateGlobalString(where), call->getArgOperand(2), call->getArgOperand(3),
                                 call->getArgOperand(4), call->getArgOperand(5), call->getArgOperand(6)});
    call->eraseFromParent();
  }
  return true;
}

}  // namespace metalloid::engines::cpu
