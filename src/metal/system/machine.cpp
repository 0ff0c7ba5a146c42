// What a Mac's system library says of the machine, and its calls for time.
#include <mach/mach.h>
#include <sys/sysctl.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>
#include <string_view>
#include <thread>

namespace {

int give(const void* from, size_t bytes, void* value, size_t* size) {
  if (value && size && *size < bytes) return errno = ENOMEM, -1;
  if (value) std::memcpy(value, from, bytes);
  if (size) *size = bytes;
  return 0;
}

// As many bytes as the caller has room for: programs ask with 4 and with 8.
int give_number(std::uint64_t number, void* value, size_t* size) {
  return give(&number, value && size && *size < sizeof(number) ? sizeof(std::uint32_t) : sizeof(number), value, size);
}

int give_text(const std::string& text, void* value, size_t* size) {
  return give(text.c_str(), text.size() + 1, value, size);
}

}  // namespace

extern "C" {

mach_port_t mach_task_self() { return 1; }

uint64_t mach_absolute_time() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

int mach_timebase_info(mach_timebase_info_t info) {
  *info = {1, 1};
  return 0;
}

int sysctlbyname(const char* name, void* value, size_t* size, void*, size_t) {
  const std::string_view asked = name;
  struct sysinfo all = {};
  sysinfo(&all);
  if (asked == "hw.memsize") return give_number(std::uint64_t{all.totalram} * all.mem_unit, value, size);
  if (asked == "hw.pagesize") return give_number(static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)), value, size);
  if (asked == "hw.ncpu" || asked == "hw.physicalcpu" || asked == "hw.logicalcpu" || asked == "hw.activecpu") {
    return give_number(std::thread::hardware_concurrency(), value, size);
  }
  if (asked == "machdep.cpu.brand_string") return give_text("Apple M3", value, size);
  if (asked == "kern.osversion") return give_text("24A335", value, size);
  if (asked == "kern.osproductversion") return give_text("15.0", value, size);
  errno = ENOENT;
  return -1;
}

}  // extern "C"
