// Loops that lanes leave in the last turn only.
#pragma once

#include <llvm/IR/Function.h>

#include <string_view>

namespace metalloid::engines::simd {

// Metadata of the branch by which lanes leave the second loop: there is no turn of it that all are in.
inline constexpr std::string_view rest_of_turns_name = "metalloid.rest_of_turns";

// Metadata of a call of broadcast_first: lane 0's number will do, whether that lane takes part or not.
inline constexpr std::string_view of_lane_0_name = "metalloid.of_lane_0";

//   for (i = lane; i < n; i += 32) body;                      // n is the same in all lanes
// ->
//   for (i = lane; simd_all(i < n); i += 32) body;            // no lane leaves: nothing needs a mask; of a row, the
//                                                             // last lane's number tells
//   for (; i < n; i += 32) body;
//
// Of loops that end by a comparison of a number that grows with the lane's (`i = lane`, `i = lane / 2`), in front of
// what they do, and nowhere else. They are short and meet nobody.
void split_off_whole_turns(llvm::Function& lane);

}  // namespace metalloid::engines::simd
