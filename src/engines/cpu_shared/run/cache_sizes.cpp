#include "engines/cpu_shared/run/cache_sizes.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <string>

namespace metalloid::engines::cpu {
namespace {

std::size_t ask_system(int name) { return static_cast<std::size_t>(std::max(::sysconf(name), 0L)); }

}  // namespace

std::size_t part_of_last_cache() {
  std::size_t largest = 0, part = 0;
  for (unsigned index = 0;; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    std::ifstream size_file(folder + "size"), map_file(folder + "shared_cpu_map");
    std::size_t size = 0;
    char unit = 0;
    std::string map;  // hexadecimal, with commas
    if (!(size_file >> size >> unit) || !(map_file >> map)) break;
    size <<= unit == 'M' ? 20 : 10;
    std::size_t processors = 0;
    for (const char digit : map) {
      if (digit == ',') continue;
      processors += std::popcount(static_cast<unsigned>(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10));
    }
    if (size <= largest) continue;
    largest = size;
    part = size / std::max<std::size_t>(processors, 1);
  }
  if (largest != 0) return part;
  return ask_system(_SC_LEVEL3_CACHE_SIZE) / std::max<std::size_t>(ask_system(_SC_NPROCESSORS_ONLN), 1);
}

std::size_t second_cache() { return ask_system(_SC_LEVEL2_CACHE_SIZE); }

}  // namespace metalloid::engines::cpu
