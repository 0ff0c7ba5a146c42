// NVIDIA's driver, opened while the program runs: nothing of it is needed to build, or where there is no GPU.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace metalloid::engines::cuda {

using Handle = void*;
using Address = std::uint64_t;

// Result codes, attributes and flags by the numbers of the CUDA Driver API.
enum DriverResult : int {
  success = 0,
  out_of_memory = 2,
  invalid_ptx = 218,
  not_ready = 600,
  illegal_address = 700,
  first_crash = 714,  // of the hardware's stack, instructions, addresses, and what is not known
  last_crash = 719,
  not_while_captured = 900,
};
enum class DeviceAttribute : int {
  clock_rate = 13,  // kHz
  multiprocessors = 16,
  memory_clock_rate = 36,  // kHz
  memory_bus_width = 37,   // bits
  threads_of_multiprocessor = 39,
  compute_capability_major = 75,
  compute_capability_minor = 76,
};
enum class FunctionAttribute : int {
  most_threads = 0,
  shared_bytes = 1,
  local_bytes = 3,
  registers = 4,
  most_dynamic_bytes = 8,  // of shared memory, by the launch
};
enum class ContextLimit : int { stack_bytes = 0 };
enum class ModuleOption : int { error_log = 5, error_log_bytes = 6, optimisation = 7 };
// The driver's own, and none: its assembler may run out of predicates, of which a GPU has seven, when it optimises.
inline constexpr std::array<std::uintptr_t, 2> optimisation_levels = {4, 0};

struct Driver {
#define FUNCTION(name, symbol, ...) int (*name)(__VA_ARGS__) = nullptr;
#include "engines/cuda/driver/functions.def"

  int version = 0;   // 13000 is CUDA 13.0
  std::string file;  // "libcuda.so.580.159.03": its own version
  int devices = 0;
  std::string problem;  // why there is none; empty where no driver is installed

  bool is_there() const { return devices > 0; }
  // "CUDA_ERROR_OUT_OF_MEMORY: out of memory"
  std::string describe(int result) const;
  // Throws std::bad_alloc for memory that is exhausted, internal for all else that is no success. `what`: "a copy".
  void check(int result, std::string_view what) const;

  // Return when it is done, and throw as check() does. set_bytes and copy_in may return before, and our streams do not
  // wait for the default stream that these go through.
  void fill_with_zeros(Address address, std::size_t bytes) const;
  void copy_and_wait(Address to, const void* from, std::size_t bytes) const;
};

// Opened when first asked for, and initialised then. Its functions can be called if it is there.
const Driver& driver();

}  // namespace metalloid::engines::cuda
