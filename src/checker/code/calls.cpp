#include "checker/code/calls.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/DerivedTypes.h>

#include "checker/code/operations.h"
#include "ir/support/pointer_roots.h"

namespace metalloid::checker {

llvm::FunctionCallee operation(llvm::Module& module, std::string_view name, llvm::Type* result,
                               llvm::ArrayRef<llvm::Type*> parameters) {
  auto callee = module.getOrInsertFunction(llvm::StringRef(name), llvm::FunctionType::get(result, parameters, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly() | llvm::MemoryEffects::readOnly());
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::WillReturn);
  function->addFnAttr(llvm::Attribute::NoFree);
  return callee;
}

llvm::SmallVector<llvm::CallInst*, 16> calls_of(llvm::Module& module, std::string_view name) {
  llvm::SmallVector<llvm::CallInst*, 16> calls;
  if (llvm::Function* function = module.getFunction(llvm::StringRef(name))) {
    for (llvm::User* user : function->users()) {
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(user)) calls.push_back(call);
    }
  }
  return calls;
}

bool is_access_check(const llvm::Value& value) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&value);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName().starts_with(llvm::StringRef(check_access_name));
}

void make_expectation(llvm::IRBuilder<>& builder, llvm::Value* holds, CheckClass kind, llvm::StringRef name) {
  llvm::Type* pointer = builder.getPtrTy();
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  builder.CreateCall(
      operation(module, check_expect_name, builder.getVoidTy(), {builder.getInt1Ty(), builder.getInt32Ty(), pointer}),
      {holds, builder.getInt32(static_cast<std::uint32_t>(kind)),
       name.empty() ? static_cast<llvm::Value*>(llvm::ConstantPointerNull::get(builder.getPtrTy()))
                    : builder.CreateGlobalString(name)});
}

llvm::Value* counted_from(llvm::IRBuilder<>& builder, llvm::Value* number, std::uint32_t flags) {
  const std::uint32_t behind = bytes_behind(flags);
  return behind == 0 ? number : builder.CreateSub(number, builder.getInt64(behind));
}

llvm::Value* all_hold(llvm::IRBuilder<>& builder, llvm::Value* holds) {
  return holds->getType()->isVectorTy() ? builder.CreateAndReduce(holds) : holds;
}

llvm::SmallVector<llvm::CallInst*, 64> take_accesses_to_variables(llvm::SmallVectorImpl<llvm::CallInst*>& checks) {
  const auto is_of_variables = [](llvm::CallInst* check) {
    if (!is_access_check(*check)) return false;
    llvm::SmallPtrSet<llvm::Value*, 16> seen;
    llvm::SmallVector<llvm::Value*, 8> roots;
    ir::find_roots(check->getArgOperand(0), seen, roots);
    return llvm::all_of(roots, llvm::IsaPred<llvm::AllocaInst>);
  };
  llvm::SmallVector<llvm::CallInst*, 64> taken, others;
  for (llvm::CallInst* check : checks) (is_of_variables(check) ? taken : others).push_back(check);
  checks.assign(others.begin(), others.end());
  return taken;
}

}  // namespace metalloid::checker
