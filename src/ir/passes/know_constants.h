// Constants that functions which stay calls get from all their callers: by a parameter, or, as the addresses of tables
// and of threadgroup variables, in a member of a variable.
//
//   %state = alloca { i32, ptr addrspace(2) }               define internal void @round(ptr %state) {
//   store ptr addrspace(2) @table, ptr %state.8               %table = load ptr addrspace(2), ptr %state.8
//   call void @round(ptr %state)                        ->    ... @table
//
// So engines know how large the memory is that an index leads to: that of a table of 256 elements, with an index of
// eight bits, needs no check. Of a variable counts what is ever stored to it, whichever comes last: what nobody has
// written yet is undefined. Optimistic, up to a fixed point, so that copies of structures and recursion do not count
// against themselves.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::ir {

void know_constants(llvm::Module& module);

}  // namespace metalloid::ir
