#include "engines/cpu_shared/passes/lower_checks.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <string>

#include "checker/code/calls.h"
#include "checker/code/operations.h"
#include "engines/cpu_shared/kernel_abi.h"
#include "engines/cpu_shared/passes/thread_state.h"

namespace metalloid::engines::cpu {
namespace {

using llvm::Value;

class CheckLowering {
 public:
  CheckLowering(llvm::Module& module, llvm::Function& entry)
      : module_(module), entry_(entry), builder_(module.getContext()) {}

  void run() {
    llvm::SmallVector<llvm::CallInst*, 64> calls;
    for (llvm::Function& function : module_) {
      if (!function.getName().starts_with(llvm::StringRef(checker::checked_prefix))) continue;
      for (llvm::User* user : function.users()) {
        if (auto* call = llvm::dyn_cast<llvm::CallInst>(user)) calls.push_back(call);
      }
    }
    for (llvm::CallInst* call : calls) lower(*call);
  }

 private:
  void lower(llvm::CallInst& call) {
    const llvm::StringRef name = call.getCalledFunction()->getName();
    builder_.SetInsertPoint(&call);
    if (name == llvm::StringRef(checker::checked_expect_name)) {
      Value* fails = builder_.CreateNot(call.getArgOperand(0));
      llvm::MDNode* rarely = llvm::MDBuilder(module_.getContext()).createUnlikelyBranchWeights();
      builder_.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(fails, &call, /*Unreachable=*/false, rarely));
      builder_.SetCurrentDebugLocation(call.getDebugLoc());
      llvm::SmallVector<Value*, 4> arguments(llvm::drop_begin(call.args()));
      make_call(check_fail_name, builder_.getVoidTy(), arguments, *call.getFunction());
    } else {
      const bool is_access = name.starts_with(llvm::StringRef(checker::checked_access_name));
      const std::string_view runtime = is_access                                                ? check_access_name
                                       : name == llvm::StringRef(checker::checked_meeting_name) ? check_meeting_name
                                                                                                : check_end_name;
      const llvm::SmallVector<Value*, 10> arguments(call.args());
      const std::string own = is_access ? std::string(runtime) + name.take_back(1).str() : std::string(runtime);
      call.replaceAllUsesWith(make_call(own, call.getType(), arguments, *call.getFunction()));
    }
    call.eraseFromParent();
  }

  Value* make_call(std::string_view name, llvm::Type* result, llvm::ArrayRef<Value*> arguments,
                   llvm::Function& function) {
    Value*& state = states_[&function];
    if (!state) state = state_in(function, entry_);
    llvm::SmallVector<Value*, 12> all = {state};
    all.append(arguments.begin(), arguments.end());
    llvm::SmallVector<llvm::Type*, 12> types;
    for (Value* argument : all) types.push_back(argument->getType());
    return builder_.CreateCall(checker::operation(module_, name, result, types), all);
  }

  llvm::Module& module_;
  llvm::Function& entry_;
  llvm::IRBuilder<> builder_;
  llvm::DenseMap<llvm::Function*, Value*> states_;
};

}  // namespace

void lower_checks(llvm::Module& module, llvm::Function& entry) { CheckLowering(module, entry).run(); }

}  // namespace metalloid::engines::cpu
