// Hands a value that one function knows to functions that stay calls.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include "support/function_ref.h"

namespace metalloid::ir {

// The function that an instruction's call names, if it has a body here; else null.
llvm::Function* called_definition(const llvm::Instruction& instruction);

// Whether every use of a function is a call in this module.
bool is_only_called(const llvm::Function& function);

//   define void @outer() {                              define void @outer(ptr %state) {
//     call void @inner()                 ->               call void @inner(ptr %state)
//   define void @inner() { ... }                        define void @inner(ptr %state) { ... %state ... }
//
// `users` need the value; those and all that lead to them get a parameter more. A function that others know by its
// address, or that is visible outside of the module, keeps its signature: `value_in` says what the value is there, in a
// place that dominates all calls. Returns the value in every function that was given one; functions that got a
// parameter are new functions with the old one's name and body.
llvm::DenseMap<llvm::Function*, llvm::Value*> pass_down(llvm::Module& module, llvm::ArrayRef<llvm::Function*> users,
                                                        llvm::Type* type, llvm::StringRef name,
                                                        support::function_ref<llvm::Value*(llvm::Function&)> value_in);

}  // namespace metalloid::ir
