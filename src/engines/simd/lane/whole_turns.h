// Loops that lanes leave in the last turn only.
#pragma once

#include <llvm/IR/Function.h>

namespace metalloid::engines::simd {

//   for (i = lane; i < n; i += 32) body;                      // n is the same in all lanes
// ->
//   for (i = lane; simd_all(i < n); i += 32) body;            // no lane leaves: nothing needs a mask
//   for (; i < n; i += 32) body;
//
// Of loops that end by a comparison of a number that grows by the same from lane to lane, in front of what they do, and
// nowhere else. They are short and meet nobody.
void split_off_whole_turns(llvm::Function& lane);

}  // namespace metalloid::engines::simd
