// Addresses that say which argument they belong to, where nobody can see it from the code: in functions that stay
// calls.
#pragma once

#include <llvm/IR/Module.h>

#include "ir/module.h"

namespace metalloid::ir {

// Programs' addresses leave the upper 16 bits empty.
inline constexpr unsigned tag_shift = 48;

// Whether functions that stay calls have accesses: their pointers come from parameters and from structs of the callers.
bool has_accesses_in_calls(const KernelModule& kernel);

// A buffer's address that is handed to a function, or stored in a variable of the thread where kept_pointers.h does not
// follow it, gets the argument's number and one as its tag. Whoever receives it takes the tag off at once:
//
//   %r = call float @sum(ptr addrspace(1) %x)       ->    %t = getelementptr i8, ptr addrspace(1) %x, i64 (1 << 48)
//                                                         %r = call float @sum(ptr addrspace(1) %t)
//   define float @sum(ptr addrspace(1) %x) {        ->    %bare = call ptr addrspace(1) @llvm.ptrmask(%x, 2^48 - 1)
void tag_pointers(KernelModule& kernel);

// Whether a value is an address that tag_pointers took the tag off; what it was then is its first operand.
bool is_bare(const llvm::Value& value);

// Of a root (pointer_roots.h) that tag_pointers made: the tag, 64 bits, there wherever the root is; 0: it has none.
// Null for all others.
llvm::Value* tag_of(llvm::Value& root);

}  // namespace metalloid::ir
