// The checker's operations become calls of the runtime (kernel_abi.h), where a dispatch's checker::Watch takes them.
//
//   call void @metalloid.checked.expect(i1 %holds, ...)
// ->
//   br i1 %holds, label %on, label %fails
//   fails: call void @metalloid_check_fail(ptr %state, ...)
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace metalloid::engines::cpu {

// Behind lower_arguments.
void lower_checks(llvm::Module& module, llvm::Function& entry);

}  // namespace metalloid::engines::cpu
