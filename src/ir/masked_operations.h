// Operations across lanes that name the lanes that take part: what explicit_lanes (passes/explicit_lanes.h) makes of a
// specialised kernel, for engines that want it. A mask has bit i for lane i of the simdgroup.
//
//   metalloid.masked.X(i32 mask, ...)    for each meeting metalloid.X of operations.def but turn_end
//
// is carried out by exactly the lanes of its mask, together: each of them comes to this very call with this very mask,
// whatever ways they took, and no other lane does. Those that have come wait; of the others some may first carry out
// operations with masks of their own. That is what a GPU's `shfl.sync` asks for. The mask of a threadgroup barrier has
// all lanes of the simdgroup that have not returned; lanes that wait until the others come to the kernel's end take
// part in it.
//
// Where functions that stay calls have threadgroup barriers none has a mask: each thread comes to
// metalloid.threadgroup_barrier for itself, and all of them that have not ended go on together.
#pragma once

#include <string_view>

namespace metalloid::ir {

inline constexpr std::string_view masked_prefix = "metalloid.masked.";
// Those below are of the same kind, with the mask in front:
//   i32 lanes.where(i32 mask, i1 holds)       the lanes of the mask for which it holds
//   i32 lanes.least(i32 mask, i32 value)      the least value, without a sign, of the mask's lanes
inline constexpr std::string_view lanes_where_name = "metalloid.lanes.where";
inline constexpr std::string_view lanes_least_name = "metalloid.lanes.least";
// i32 (): the lanes that the simdgroup has. At the kernel's beginning, where all of them are.
inline constexpr std::string_view lanes_present_name = "metalloid.lanes.present";

}  // namespace metalloid::ir
