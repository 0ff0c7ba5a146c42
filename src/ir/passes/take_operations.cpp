// take_operations
//
//   define void @_ZN11__metalloid6matmul8multiply...(ptr addrspace(1) %left, ...)
//   "metalloid.operation"="matmul2d.thread" call void @_ZN11__metalloid6matmul8multiply...(ptr addrspace(1) %a, ...)
// ->
//   declare void @metalloid.matmul2d.thread.device.device.device(ptr addrspace(1), ...)
//   call void @metalloid.matmul2d.thread.device.device.device(ptr addrspace(1) %a, ...)
//
// The function's types tell which of the operations of that name it is. There may be none: library functions take
// addresses in any memory, and operations are lists.
#include "ir/passes/take_operations.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Instructions.h>

#include "ir/passes/normalise_attributes.h"

namespace metalloid::ir {
namespace {

constexpr llvm::StringLiteral attribute = "metalloid.operation";

}  // namespace

void mark_operation(llvm::Function& function, std::string_view spelling) {
  function.addFnAttr(attribute, llvm::StringRef(spelling));
}

void mark_operation(llvm::Function& function, std::string_view spelling, int simdgroups) {
  const char* scope = simdgroups == 0 ? "thread" : simdgroups == 1 ? "simdgroup" : "simdgroups";
  mark_operation(function, fmt::format("{}.{}", spelling, scope));
}

std::string_view defined_operation(const llvm::Function& function) {
  return function.getFnAttribute(attribute).getValueAsString();
}

void take_operations(llvm::Module& module, const OperationPolicy& policy) {
  if (!policy) return;
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    const std::string_view whole = defined_operation(function);
    if (whole.empty()) continue;
    const Operation* operation = find_whole_operation(whole, *function.getFunctionType());
    if (!operation) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      if (!call || call->getCalledOperand() != &function || !policy(*operation, *call)) continue;
      call->setCalledFunction(declare_operation(module, operation->name));
      call->setCallingConv(llvm::CallingConv::C);
      call->setAttributes({});
      if (operation->is_convergent) call->setConvergent();
    }
    if (function.use_empty()) function.eraseFromParent();
  }
}

}  // namespace metalloid::ir
