// Rows that go to more memory than the caches hold are written past them.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Function.h>

namespace metalloid::engines::simd {

//   store <32 x float> %x, ptr %row
// ->
//   if argument i streams (ThreadgroupState::streams, far_streams), and %row is at the beginning of a cache line
//     store <32 x float> %x, ptr %row, !nontemporal
//   else
//     store <32 x float> %x, ptr %row
//
// A processor reads a line that it writes unless it is told that it will not be needed soon: copying then moves a third
// of its bytes for nothing. Where threadgroups go on where the one before ended, it reads ahead; where each writes far
// from the last one (threadgroup_steps.h), as those that transpose a matrix, it waits for every line, so that even what
// the caches hold is better written past them. Masked rows are the same when all lanes take part. Only for arguments
// that the simdgroup does not read, and in programs without atomic operations and fences, which order no such writes.
// A program that calls itself in other forms, for other threads (run_simdgroups.h), has nothing in these that it lacks.
void stream_stores(llvm::Function& simdgroup, llvm::ArrayRef<const llvm::Function*> other_forms = {});

}  // namespace metalloid::engines::simd
