// Tells a thread that goes around a barrier from one that has returned before it: on each way that leads around a
// meeting, a call says so. A way that only returns is no such way.
//
//   if (c) threadgroup_barrier(...);   ->   if (c) threadgroup_barrier(...) else go_around(the barrier's number)
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::checker {

void mark_ways_around(llvm::Module& module);

}  // namespace metalloid::checker
