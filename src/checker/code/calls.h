// Calls of the checker's operations: how passes make and find them.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <string_view>

#include "checker/code/operations.h"
#include "metalloid/check.h"

namespace metalloid::checker {

// Declared on first use: may read all memory and write such that no kernel names, so that no call is deleted, merged or
// moved over another one or over a store; throws nothing and returns.
llvm::FunctionCallee operation(llvm::Module& module, std::string_view name, llvm::Type* result,
                               llvm::ArrayRef<llvm::Type*> parameters);

llvm::SmallVector<llvm::CallInst*, 16> calls_of(llvm::Module& module, std::string_view name);

// What a check of an access returns is the address that it was given.
bool is_access_check(const llvm::Value& value);
// In front of where the builder stands.
void make_expectation(llvm::IRBuilder<>& builder, llvm::Value* holds, CheckClass kind, llvm::StringRef name);

// What an access's alignment counts for, of its offset or address.
llvm::Value* counted_from(llvm::IRBuilder<>& builder, llvm::Value* number, std::uint32_t flags);

// i1, also of a vector of them.
llvm::Value* all_hold(llvm::IRBuilder<>& builder, llvm::Value* holds);

// Takes the accesses to the thread's own variables out of a list of checks. With these out of the way, addresses that a
// thread keeps there can be followed (ir/support/kept_pointers.h).
llvm::SmallVector<llvm::CallInst*, 64> take_accesses_to_variables(llvm::SmallVectorImpl<llvm::CallInst*>& checks);

}  // namespace metalloid::checker
