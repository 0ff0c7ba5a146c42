// Says of addresses which argument they belong to, where nobody can see it from the code.
#pragma once

#include <llvm/IR/Module.h>

#include "ir/module.h"

namespace metalloid::checker {

// Whether functions that stay calls have accesses: their pointers come from parameters and from structs of the callers.
bool has_checked_calls(const ir::KernelModule& kernel);

// Behind resolve.h, for such kernels. A buffer's address that is stored where kept_pointers.h does not follow it, or
// handed to a function, has the argument's number and one in its upper 16 bits, which addresses of programs leave empty:
//
//   %r = call float @sum(ptr addrspace(1) %x)    ->    %t = getelementptr i8, ptr addrspace(1) %x, i64 (1 << 48)
//                                                      %r = call float @sum(ptr addrspace(1) %t)
//
// An access to memory that is not known takes them off again (run/watch.h); so does what compares pointers.
void tag_pointers(ir::KernelModule& kernel);

}  // namespace metalloid::checker
