#include "engines/cpu_shared/hardware.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "support/made_once.h"
#include "support/watchdog.h"

namespace metalloid::engines::cpu {
namespace {

constexpr std::size_t alignment = 128;
constexpr std::size_t large = std::size_t{1} << 20;

std::size_t rounded(std::size_t bytes) {
  return (std::max(bytes, std::size_t{1}) + alignment - 1) / alignment * alignment;
}

class HostMemory : public Memory {
 public:
  bool is_host() const override { return true; }

  std::byte* allocate(std::size_t bytes) override {
    if (bytes >= large) {
      // Fresh pages are zero without being touched.
      void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) throw std::bad_alloc();
      ::madvise(memory, bytes, MADV_HUGEPAGE);
      return static_cast<std::byte*>(memory);
    }
    void* memory = std::aligned_alloc(alignment, rounded(bytes));
    if (!memory) throw std::bad_alloc();
    std::memset(memory, 0, rounded(bytes));
    return static_cast<std::byte*>(memory);
  }

  void release(std::byte* address, std::size_t bytes) noexcept override {
    if (bytes >= large) {
      ::munmap(address, bytes);
    } else {
      std::free(address);
    }
  }

  void copy_in(std::byte* to, std::span<const std::byte> from) override {
    if (!from.empty()) std::memcpy(to, from.data(), from.size());
  }
  void copy_out(std::span<std::byte> to, const std::byte* from) override {
    if (!to.empty()) std::memcpy(to.data(), from, to.size());
  }
};

class HostHardware : public Hardware {
 public:
  Memory& memory() override { return memory_; }
  void interrupt() noexcept override { support::interrupt_watched(); }

 private:
  HostMemory memory_;
};

}  // namespace

Hardware& hardware() {
  static constinit support::MadeOnce<HostHardware> host;
  return host.get([] { return HostHardware(); });
}

}  // namespace metalloid::engines::cpu
