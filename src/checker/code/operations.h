// What a checked kernel's code says of itself: calls that instrument.h puts beside accesses, meetings and divisions,
// and that an engine hands to the checker's runtime (run/watch.h).
//
// From instrument.h to resolve.h:
//   ptr  metalloid.check.access.p<space>(ptr address, i64 bytes, i64 value, i32 AccessFlags)
//        in front of an access; what it returns takes the address's place: the same, or harmless memory
//   void metalloid.check.expect(i1 holds, i32 CheckClass, ptr name)
//   void metalloid.check.variable(ptr variable)    it begins undefined here (mark_variables.h, to follow_undefined.h)
//   T    metalloid.check.division.<T>(T result, i1 holds)
//        behind a division; what it returns takes the result's place: the same. Where nobody uses that, LLVM drops
//        both. Of vectors, `holds` has an i1 for each element.
//   void metalloid.check.used(i1 holds, i32 origin)
//        where follow_undefined.h finds a use of something undefined. origin: its number in the module's origins, from
//        1
//   void metalloid.check.meeting(i32 MeetingStep, i32 what, i32 operand)
//        what: memory flags of barriers and fences; of operations across lanes ir::CrossLane, quad_meeting for those
//        of a quadgroup, or matrix_meeting. Above: the meeting's number, which mark_ways_around.h gives.
//   void metalloid.check.end()          the thread returns from the kernel
// From resolve.h to an engine: the same as metalloid.checked.*, with what is known by then of the root and the place
//   ptr  metalloid.checked.access.p<space>(ptr address, ptr base, i64 size, i32 root, i64 bytes, i64 value,
//                                          i32 flags, i32 thread, ptr site)
//   void metalloid.checked.expect(i1 holds, i32 class, ptr name, i32 thread, ptr site)
//   void metalloid.checked.meeting(i32 step, i32 what, i32 operand, i32 thread, ptr site)
//   void metalloid.checked.end(i32 thread)
// and the engine's code calls, with its state in front, the functions of run/watch.h.
#pragma once

#include <cstdint>
#include <string_view>

namespace metalloid::checker {

inline constexpr std::string_view check_prefix = "metalloid.check.";
inline constexpr std::string_view check_access_name = "metalloid.check.access.p";
inline constexpr std::string_view check_expect_name = "metalloid.check.expect";
inline constexpr std::string_view check_variable_name = "metalloid.check.variable";
inline constexpr std::string_view check_used_name = "metalloid.check.used";
inline constexpr std::string_view check_division_name = "metalloid.check.division.";
inline constexpr std::string_view check_meeting_name = "metalloid.check.meeting";
inline constexpr std::string_view check_end_name = "metalloid.check.end";

inline constexpr std::string_view checked_prefix = "metalloid.checked.";
inline constexpr std::string_view checked_access_name = "metalloid.checked.access.p";
inline constexpr std::string_view checked_expect_name = "metalloid.checked.expect";
inline constexpr std::string_view checked_meeting_name = "metalloid.checked.meeting";
inline constexpr std::string_view checked_end_name = "metalloid.checked.end";

// Where undefined values begin: named metadata, an operand {i32 CheckClass, variable's name, debug location} for each.
inline constexpr std::string_view origins_name = "metalloid.check.origins";

enum AccessFlags : std::uint32_t {
  access_reads = 1,
  access_writes = 2,
  access_atomic = 4,
  access_has_value = 8,  // its bits are the operand `value`
  access_is_float = 16,
  access_any_space = 32,  // the address may be one of the thread's own variables
};
// Above the flags: the logarithm of the alignment that the source promises, the bytes of one element, and how many
// bytes the access lies behind where the alignment counts, which is where a vector begins whose component it is.
inline constexpr unsigned access_alignment_shift = 8, access_element_shift = 16, access_behind_shift = 24;
inline std::uint32_t element_bytes_of(std::uint32_t flags) { return flags >> access_element_shift & 0xff; }
inline std::uint32_t bytes_behind(std::uint32_t flags) { return flags >> access_behind_shift; }
inline unsigned alignment_of(std::uint32_t flags) { return flags >> access_alignment_shift & 0x3f; }

enum class MeetingStep : std::uint32_t {
  come_to_threadgroup_barrier,
  leave_threadgroup_barrier,
  come_to_simdgroup_barrier,
  leave_simdgroup_barrier,
  come_to_operation,  // across lanes
  leave_operation,
  fence,
  go_around,  // a branch to a way around the meeting whose number is above; the operand: whether the thread takes it
};
inline constexpr std::uint32_t matrix_meeting = 0xfff, quad_meeting = 0x100;
inline constexpr unsigned meeting_number_shift = 16;
inline constexpr std::uint32_t most_meetings = 256;  // with numbers, from 1; 0: it has none

// What an address comes from.
enum Root : std::uint32_t {
  first_threadgroup_root = 0x10000,  // below: the kernel's argument of that number
  first_constant_root = 0x20000,
  first_private_root = 0x30000,
  trusted_root = 0xfffffffe,  // what the engine made: positions, descriptors of tensors
  unknown_root = 0xffffffff,
};

// A place in the source, in the code's constant data. `called_from` leads to the call that was inlined, or to where the
// macro was expanded whose name is `macro`, which is null elsewhere.
struct Site {
  const char* file;
  const Site* called_from;
  const char* macro;
  std::uint32_t line, column;
  std::uint32_t id;  // from 1; of places in one kernel
  std::uint32_t unused;
};

// A variable that is a root: in metalloid_checked_roots, an array that ends with a null name.
struct NamedRoot {
  const char* name;
  std::uint32_t root;
  std::uint32_t element_bytes;
};
inline constexpr std::string_view roots_name = "metalloid_checked_roots";

}  // namespace metalloid::checker
