#include "engines/cpu_shared/passes/report_bounds.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>

#include "engines/cpu_shared/kernel_abi.h"
#include "engines/out_of_bounds.h"
#include "ir/bounds/lower_bounds_checks.h"

namespace metalloid::engines::cpu {

using llvm::Value;

void report_bounds(llvm::IRBuilderBase& builder, Value* state, Value* thread, llvm::ArrayRef<Value*> check) {
  llvm::Type *number = builder.getInt64Ty(), *pointer = builder.getPtrTy();
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  auto callee =
      module.getOrInsertFunction(llvm::StringRef(report_bounds_name), builder.getVoidTy(), pointer,
                                 builder.getInt32Ty(), number, number, number, pointer, pointer, pointer, pointer);
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  for (const auto attribute : {llvm::Attribute::NoUnwind, llvm::Attribute::NoReturn, llvm::Attribute::Cold}) {
    function->addFnAttr(attribute);
  }
  function->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  llvm::SmallVector<Value*, 8> operands = {state, thread};
  operands.append(check.begin(), check.end());
  builder.CreateCall(callee, operands);
  builder.CreateUnreachable();
}

void lower_bounds_checks(llvm::Module& module, const Entry& entry) {
  ir::lower_bounds_checks(module, [&](llvm::IRBuilderBase& builder, llvm::CallInst& check) {
    const bool is_entry = check.getFunction() == entry.function;
    Value* state =
        is_entry ? static_cast<Value*>(entry.function->getArg(0)) : llvm::ConstantPointerNull::get(builder.getPtrTy());
    Value* thread = is_entry ? entry.thread_index : builder.getInt32(unknown_thread);
    report_bounds(builder, state, thread, llvm::SmallVector<Value*, 7>(check.args()));
  });
}

}  // namespace metalloid::engines::cpu
