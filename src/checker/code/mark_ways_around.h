// Tells a thread that goes around a barrier from one that has returned before it: where a branch leads around a
// meeting, a call says whether this thread goes there. A way that only returns is no such way.
//
//   if (c) threadgroup_barrier(...);   ->   go_around(the barrier's number, !c); if (c) threadgroup_barrier(...);
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::checker {

void mark_ways_around(llvm::Module& module);

}  // namespace metalloid::checker
