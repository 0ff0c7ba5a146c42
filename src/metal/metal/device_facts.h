// What every device says of itself to programs that choose their ways by it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace metalloid::metal {

struct DeviceFacts {
  std::string name, architecture;
  std::vector<long> families;        // MTLGPUFamily
  std::uint64_t largest_buffer = 0;  // bytes
  std::uint64_t working_set = 0;     // bytes, of which programs make use together
};

// Of an Apple M3, with this machine's memory; $METALLOID_METAL_NAME and $METALLOID_METAL_ARCHITECTURE say otherwise.
const DeviceFacts& device_facts();

}  // namespace metalloid::metal
