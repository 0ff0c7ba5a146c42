// Keeps simdgroups from running far ahead of each other where a barrier is missing.
#pragma once

#include <llvm/IR/Function.h>

namespace metalloid::engines::simd {

//   sum = simd_sum(shared[lane]);        sum = simd_sum(shared[lane]);
//   shared[simdgroup] = ...        ->    others get their turn
//                                        shared[simdgroup] = ...
//
// A barrier is missing between the reads of threadgroup memory and the writes that follow. Kernels in use have this
// flaw and work on Apple's hardware, where no simdgroup runs far ahead of the others; here one would run to its next
// barrier before another has read at all. So behind operations across lanes that lie between such reads and writes a
// simdgroup stops, as at a barrier, but goes on as soon as the others have had their turn.
void take_turns(llvm::Function& lane);

}  // namespace metalloid::engines::simd
