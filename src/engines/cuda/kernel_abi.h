// What generated code and the host agree on: what a launch hands to a kernel, and what a kernel leaves of an access
// outside of its memory. Read by offset (passes/lower_arguments.cpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>
#include <vector>

#include "metalloid/reflection.h"

namespace metalloid::engines::cuda {

// In the device's memory, one for each stream.
struct Report {
  std::uint32_t is_taken = 0;  // by the thread that writes the rest, which is the first
  std::uint32_t thread = 0;    // its index in its threadgroup
  std::uint32_t group[3] = {};
  // What ir/bounds/check_bounds.h says of a check; texts are addresses in the device's memory.
  std::uint64_t offset = 0, bytes = 0, available = 0, front = 0;
  std::uint64_t what = 0, first = 0, last = 0;
  // The rest stays from launch to launch.
  std::uint64_t log = 0;  // a LogHead in the device's memory, where the kernel has messages
};

// Messages of os_log: this, and LogRecords with their arguments. What was not written is zero.
struct LogHead {
  std::uint64_t used = 0;  // bytes of records, of those too that found no room
  std::uint64_t lost = 0;  // how many found none
};
struct LogRecord {
  std::uint32_t bytes = 0;  // with the arguments
  std::uint32_t count = 0;  // of arguments, each a LogArgument (engines/log.h)
  std::uint32_t level = 0;
  std::uint32_t thread = 0;  // its index in its threadgroup
  std::uint32_t group[3] = {};
  std::uint32_t unused = 0;
  std::uint64_t where = 0, subsystem = 0, category = 0, format = 0;  // addresses of texts
};
inline constexpr std::uint64_t log_capacity = 4 << 20;
inline constexpr std::uint32_t most_log_arguments = 64;

// What a report without a memory is about, in its offset; `first` is where it happened.
enum class Failure : std::uint32_t { stack = 1, trap = 2 };

// What functions that call themselves have of a thread's stack. The GPU takes it for all threads that it has room for.
inline constexpr std::uint64_t recursion_stack_bytes = 16 << 10;

// An argument of the kernel.
struct ArgumentSlot {
  // Of a buffer, its address; of constant memory that comes with the launch, where in the parameters it lies, which is
  // less than any address; of threadgroup memory, where it begins in the threadgroup's.
  std::uint64_t address = 0;
  std::uint64_t bytes = 0, front = 0;  // from there to the memory's end, and in front of it
  // For one comparison of a check: what offsets of accesses of any `most_access_bytes` are less than, and how many
  // elements of 1, 2, 4, 8 and 16 bytes there are. No more than there is room for, or than is there.
  std::uint64_t starts = 0;
  std::uint32_t elements[5] = {};
  std::uint32_t descriptor = 0;  // of a tensor, where in the parameters its descriptor lies
};
inline constexpr std::uint64_t most_access_bytes = 16;

inline void set_bytes(ArgumentSlot& slot, std::uint64_t bytes) {
  slot.bytes = bytes;
  slot.starts = bytes < most_access_bytes ? 0 : bytes - (most_access_bytes - 1);
  for (std::size_t i = 0; i < std::size(slot.elements); ++i) {
    slot.elements[i] =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes >> i, std::numeric_limits<std::uint32_t>::max()));
  }
}

// In the host's memory: the host looks at the one, and writes the other while kernels run. No copy of the driver's
// could overtake them for sure.
struct HostWords {
  std::uint32_t is_reported = 0;
  std::uint32_t stop = 0;  // 1: loops end their threads
};

// The kernel's only parameter: this, a slot for each argument, and bytes that come with the launch.
struct LaunchHead {
  std::uint32_t threads_per_grid[3] = {};
  std::uint32_t threadgroups_per_grid[3] = {};
  std::uint32_t threads_per_threadgroup[3] = {};  // nominal
  std::uint32_t first_group[3] = {};              // of this launch: a large grid is launched in pieces
  std::uint32_t is_folded = 0;                    // 1: the block's y holds Metal's y and z
  std::uint32_t is_plain = 0;                     // 1: all threadgroups are whole, of one launch, and not folded
  std::uint64_t report = 0;                       // a Report in the device's memory
  std::uint64_t host = 0;                         // HostWords
};
static_assert(sizeof(LaunchHead) % alignof(ArgumentSlot) == 0);

// CUDA's limit for a kernel's parameters.
inline constexpr std::size_t most_parameter_bytes = 4096;
inline constexpr std::size_t inline_alignment = 16;

// Of a constant reference, how many bytes there are for it among the parameters, in the order of arguments and in front
// of what else lies there; 0 if it has none.
inline std::size_t room_for_reference(const ArgumentInfo& argument) {
  constexpr std::size_t most = 1024;
  const bool has_room = argument.kind == ArgumentKind::buffer && argument.address_space == AddressSpace::constant &&
                        argument.is_reference && argument.type.size <= most;
  return has_room ? (argument.type.size + inline_alignment - 1) / inline_alignment * inline_alignment : 0;
}
// Where what comes with the launch begins among the parameters.
inline std::size_t place_of_inline_bytes(std::size_t arguments) {
  const std::size_t place = sizeof(LaunchHead) + arguments * sizeof(ArgumentSlot);
  return (place + inline_alignment - 1) / inline_alignment * inline_alignment;
}
inline std::size_t place_of_reference(const std::vector<ArgumentInfo>& arguments, std::size_t number) {
  std::size_t place = place_of_inline_bytes(arguments.size());
  for (std::size_t i = 0; i < number; ++i) place += room_for_reference(arguments[i]);
  return place;
}

// A grid's x in code with joined threads: behind its last thread there is room for a block before numbers wrap.
inline constexpr std::uint32_t most_joined_x = std::numeric_limits<std::int32_t>::max() - (1 << 15);

// Of what an argument leads to, in bytes, as far as it makes a difference to accesses.
inline std::uint64_t alignment_of(const ArgumentInfo& argument) {
  if (argument.kind == ArgumentKind::threadgroup_memory) return inline_alignment;
  const std::uint64_t bytes = std::min<std::uint64_t>(argument.type.alignment, inline_alignment);
  return std::has_single_bit(bytes) ? bytes : 1;
}

inline constexpr std::string_view kernel_name = "metalloid_kernel";
inline constexpr std::string_view threadgroup_memory_name = "metalloid_threadgroup_memory";

// Of the compiled kernel, in front of its code (code/code_file.h).
struct KernelFacts {
  std::uint32_t parameter_bytes = 0;
  std::uint32_t most_threads = 0;  // the code is compiled for; 0: what its registers allow
  // How many of Metal's threads a thread of CUDA's is (passes/join_threads.h); 0: one, and a block is a threadgroup.
  std::uint32_t joined_threads = 0;
  std::uint32_t may_not_end = 0;           // 1: it has loops whose turns nobody can count
  std::uint32_t wants_whole = 0;           // 1: threadgroups that are all alike, of whole simdgroups
  std::uint32_t wants_apart = 0;           // 1: buffers that may be written have nothing in common with others
  std::uint32_t wants_threads = 0;         // in a threadgroup; 0: any number
  std::uint32_t threadgroup_bytes = 0;     // in front of threadgroup arguments
  std::uint32_t recurses = 0;              // 1: functions call themselves
  std::uint32_t logs = 0;                  // 1: it has messages to write
  std::uint32_t counts_threads = 0;        // 1: it would gain by knowing the size of threadgroups
  std::array<std::uint32_t, 3> threads{};  // the size that it counts on; 0: none
};

}  // namespace metalloid::engines::cuda
