// Finds the memory that accesses go to where the source lost it on the way.
//
//   float twice(thread float& x)              define float @twice(ptr %x)
//   ... twice(buffer[i])                      %g = addrspacecast ptr addrspace(1) %element to ptr
//                                             %y = call float @twice(ptr %g)
//   -> load float, ptr addrspace(1) %element
//
// Metalloid lets every address become a plain one, which is 0: thread memory, or memory of any kind.
//  1. What space each pointer in space 0 has: that of a cast's operand, of all operands of a phi or select, of
//     what all callers pass or all ways through a function return. Optimistic, up to a fixed point, so that
//     loops and recursion do not count against themselves; null goes with everything.
//  2. Functions that stay calls take and return pointers in the space that was found.
//  3. LLVM's pass takes the rest of each function from the casts to the accesses.
//
// Valid because a cast to space 0 and back keeps the address, and a cast of null null, in every engine (module.h).
// Addresses that were written to memory and read again, that come from integers, or that are of different memories on
// different ways stay in space 0, and so do parameters of functions that are called through pointers.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::ir {

void infer_address_spaces(llvm::Module& module);

}  // namespace metalloid::ir
