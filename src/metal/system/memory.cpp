// vm_allocate and vm_deallocate of <mach/mach.h>.
#include "metal/system/memory.h"

#include <mach/mach.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>

namespace {

std::mutex& mutex = *new std::mutex();  // buffers may outlive main()
// Ends of what was allocated, and begins.
std::map<vm_address_t, vm_address_t>& ends = *new std::map<vm_address_t, vm_address_t>();

vm_size_t in_pages(vm_size_t size) {
  const auto page = static_cast<vm_size_t>(sysconf(_SC_PAGESIZE));
  return (size + page - 1) / page * page;
}

bool release(vm_address_t begin, vm_address_t end) { return munmap(reinterpret_cast<void*>(begin), end - begin) == 0; }

}  // namespace

std::size_t metalloid::metal::memory_behind(const void* end) {
  const std::lock_guard lock(mutex);
  return ends.contains(reinterpret_cast<vm_address_t>(end)) ? most_behind : 0;
}

// By the system's list of mappings, whose lines begin with "7f0000000000-7f0000001000 r--p", in the order of addresses.
bool metalloid::metal::is_read_only(const void* begin, std::size_t size) {
  auto next = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t end = next + size;
  if (next % static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)) != 0) return false;
  std::ifstream mappings("/proc/self/maps");
  for (std::string line; next < end && std::getline(mappings, line);) {
    std::uintptr_t first = 0, last = 0;
    char dash = 0;
    std::string access;
    std::istringstream words(line);
    if (!(words >> std::hex >> first >> dash >> last >> access) || last <= next) continue;
    if (first > next || !access.starts_with("r-")) return false;
    next = last;
  }
  return next >= end;
}

extern "C" {

kern_return_t vm_allocate(vm_map_t, vm_address_t* address, vm_size_t size, int) {
  const vm_size_t own = in_pages(size);
  if (own < size || own + metalloid::metal::most_behind < own) return KERN_NO_SPACE;
  void* memory =
      mmap(nullptr, own + metalloid::metal::most_behind, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return KERN_NO_SPACE;
  *address = reinterpret_cast<vm_address_t>(memory);
  const std::lock_guard lock(mutex);
  ends[*address + own] = *address;
  return KERN_SUCCESS;
}

// All of what was allocated, or a part.
kern_return_t vm_deallocate(vm_map_t, vm_address_t address, vm_size_t size) {
  vm_address_t end = address + in_pages(size);
  {
    const std::lock_guard lock(mutex);
    const auto found = ends.find(end);
    if (found != ends.end() && address >= found->second) {
      end += metalloid::metal::most_behind;
      ends.erase(found);
    }
  }
  return release(address, end) ? KERN_SUCCESS : KERN_NO_SPACE;
}

}  // extern "C"
