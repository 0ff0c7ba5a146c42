// What a screened kernel's code asks the checker (checker/run/screen.h): runtime entry points with the state and the
// simdgroup's first thread in front.
#pragma once

#include <string_view>

namespace metalloid::engines::simd {

//   void suspect(state, u32 first)             does not return
//   void access_one/_row/_lanes(state, u32 first, u32 lanes, ptr, u32 root, u64 bytes, u32 flags)
//   void access_shared_row(the same, u32 count)
//   void meet(state, u32 first, u32 lanes, u32 step, u32 what, u32 operand, u32* operands)
//   void end(state, u32 first, u32 lanes)
inline constexpr std::string_view screen_suspect_name = "metalloid_screen_suspect";
inline constexpr std::string_view screen_one_name = "metalloid_screen_one";
inline constexpr std::string_view screen_row_name = "metalloid_screen_row";
inline constexpr std::string_view screen_shared_row_name = "metalloid_screen_shared_row";
inline constexpr std::string_view screen_lanes_name = "metalloid_screen_lanes";
inline constexpr std::string_view screen_meet_name = "metalloid_screen_meet";
inline constexpr std::string_view screen_end_name = "metalloid_screen_end";

// The entry point of that name, or null.
void* screen_symbol(std::string_view name);

}  // namespace metalloid::engines::simd
