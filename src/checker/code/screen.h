// The other thing that checks may become: questions whether a kernel may have anything wrong at all, which a simdgroup
// asks for its lanes together (run/screen.h). Nothing of them is told: where the answer is not no, the dispatch is run
// again with resolve.h's checks.
#pragma once

#include <cstdint>
#include <string_view>

#include "ir/module.h"

namespace metalloid::checker {

// From here to the engine that widens them:
//   void metalloid.screen.access.p<space>(ptr address, i32 root, i64 bytes, i32 AccessFlags)
//        root: as of resolve.h, but for all threadgroup memory first_threadgroup_root. The engine checks its bounds, as
//        it does for accesses; whether anybody uses what is read does not matter.
//   void metalloid.screen.expect(i1 holds)
//   void metalloid.screen.meeting(i32 MeetingStep, i32 what, i32 operand)
//   void metalloid.screen.end()
inline constexpr std::string_view screen_prefix = "metalloid.screen.";
inline constexpr std::string_view screen_access_name = "metalloid.screen.access.p";
inline constexpr std::string_view screen_expect_name = "metalloid.screen.expect";
inline constexpr std::string_view screen_meeting_name = "metalloid.screen.meeting";
inline constexpr std::string_view screen_end_name = "metalloid.screen.end";

// What the accesses of a memory have in common: in metalloid_screened_roots, an array that ends with unknown_root,
// whose entry is that of addresses that nothing is known of.
struct ScreenedRoot {
  std::uint32_t root;
  std::uint32_t unit;       // the logarithm of what the bytes and the places of all accesses are multiples of
  std::uint32_t alignment;  // the logarithm of what the memory has to begin at a multiple of
  std::uint32_t uses;       // screened_*
};
inline constexpr std::uint32_t screened_written = 1;
// Of unknown_root's entry: threadgroups read by atomics what others may have written.
inline constexpr std::uint32_t screened_exchanged = 2;
inline constexpr std::string_view screened_name = "metalloid_screened_roots";
inline constexpr unsigned most_unit = 4;  // 16 bytes

// In AccessFlags: only the bounds are of interest.
inline constexpr std::uint32_t access_only_bounds = 64;

void screen(ir::KernelModule& kernel);

}  // namespace metalloid::checker
