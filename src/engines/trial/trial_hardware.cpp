#include "engines/trial/trial_hardware.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "engines/cpu_shared/hardware.h"
#include "engines/host_memory.h"
#include "engines/trial/deferring_stream.h"
#include "support/fork_safe_mutex.h"
#include "support/watchdog.h"

namespace metalloid::engines::trial {
namespace {

// The arena is a file without a name. The host reads and writes the file, never the addresses.
class TrialMemory : public Memory {
 public:
  TrialMemory() : Memory(MemoryKind::device) {}

  std::byte* allocate(std::size_t bytes) override {
    const std::lock_guard lock(mutex_);
    prepare();
    const std::size_t needed = rounded(bytes);
    for (auto gap = free_.begin(); gap != free_.end(); ++gap) {
      const auto [offset, size] = *gap;
      if (size < needed) continue;
      free_.erase(gap);
      if (size > needed) free_.emplace(offset + needed, size - needed);
      return base_ + offset;
    }
    throw std::bad_alloc();
  }

  void release(std::byte* address, std::size_t bytes) noexcept override {
    const std::lock_guard lock(mutex_);
    auto offset = static_cast<std::size_t>(address - base_);
    std::size_t size = rounded(bytes);
    // Reads as zeros when it is allocated again.
    ::fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                static_cast<off_t>(size));
    auto next = free_.lower_bound(offset);
    if (next != free_.end() && next->first == offset + size) {
      size += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      const auto previous = std::prev(next);
      if (previous->first + previous->second == offset) {
        previous->second += size;
        return;
      }
    }
    free_.emplace(offset, size);
  }

  void copy_in(std::byte* to, std::span<const std::byte> from) override {
    for (std::size_t done = 0; done < from.size();) {
      done += checked(::pwrite(file_, from.data() + done, from.size() - done, to + done - base_));
    }
  }
  void copy_out(std::span<std::byte> to, const std::byte* from) override {
    for (std::size_t done = 0; done < to.size();) {
      done += checked(::pread(file_, to.data() + done, to.size() - done, from + done - base_));
    }
  }

  void open() {
    const std::lock_guard lock(mutex_);
    prepare();
    if (users_++ == 0) ::mprotect(base_, arena_bytes, PROT_READ | PROT_WRITE);
  }
  void close() noexcept {
    const std::lock_guard lock(mutex_);
    if (--users_ == 0) ::mprotect(base_, arena_bytes, PROT_NONE);
  }

  // In a forked child, which would share the file with its parent: the arena becomes a copy.
  void part_from_parent() {
    if (!base_) return;
    const int file = ::memfd_create("metalloid_trial", MFD_CLOEXEC);
    if (file < 0 || ::ftruncate(file, arena_bytes) != 0) std::abort();
    std::array<std::byte, page> piece;
    for (off_t at = ::lseek(file_, 0, SEEK_DATA); at >= 0; at = ::lseek(file_, at + off_t{page}, SEEK_DATA)) {
      if (::pread(file_, piece.data(), page, at) != off_t{page} ||
          ::pwrite(file, piece.data(), page, at) != off_t{page}) {
        std::abort();
      }
    }
    const int access = users_ == 0 ? PROT_NONE : PROT_READ | PROT_WRITE;
    void* mapped = ::mmap(base_, arena_bytes, access, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file, 0);
    if (mapped == MAP_FAILED) std::abort();
    ::close(std::exchange(file_, file));
  }

 private:
  static constexpr std::size_t arena_bytes = std::size_t{4} << 30;
  // A page each, so that holes can be made.
  static constexpr std::size_t page = 4096;

  static std::size_t rounded(std::size_t bytes) { return (std::max(bytes, std::size_t{1}) + page - 1) / page * page; }
  static std::size_t checked(ssize_t moved) {
    if (moved <= 0) throw std::bad_alloc();
    return static_cast<std::size_t>(moved);
  }

  void prepare() {
    if (base_) return;
    file_ = ::memfd_create("metalloid_trial", MFD_CLOEXEC);
    if (file_ < 0 || ::ftruncate(file_, arena_bytes) != 0) throw std::bad_alloc();
    void* mapped = ::mmap(nullptr, arena_bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file_, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<std::byte*>(mapped);
    free_.emplace(0, arena_bytes);
  }

  support::ForkSafeMutex mutex_;
  int file_ = -1;
  std::byte* base_ = nullptr;
  std::map<std::size_t, std::size_t> free_;  // offset, bytes
  unsigned users_ = 0;
};

class Deferring : public TrialHardware {
 public:
  std::string processor() const override { return host().processor(); }
  Hardware& host() const override { return cpu::hardware(); }
  bool runs_at_call() const override { return false; }
  std::unique_ptr<Stream> make_stream() override { return make_deferring_stream(); }
  void interrupt() noexcept override { support::interrupt_watched(); }
};

class Processor : public Deferring {
 public:
  std::string description() const override { return host().description() + " with memory of its own"; }
  Memory& memory() override { return memory_; }
  Memory& shared_memory() override { return shared_memory_; }
  bool can_reach(const Memory& memory) const override {
    return &memory == &memory_ || memory.kind() == MemoryKind::pinned || memory.kind() == MemoryKind::managed;
  }
  std::unique_ptr<SharedStream> share_stream(std::uintptr_t /*native*/) override {
    return make_deferring_shared_stream();
  }
  ArrayDevice array_device() const override;
  void open() override { memory_.open(); }
  void close() noexcept override { memory_.close(); }
  void part_from_parent() { memory_.part_from_parent(); }

 private:
  TrialMemory memory_;
  HostReachedMemory shared_memory_{MemoryKind::pinned};
};

class UnifiedProcessor : public Deferring {
 public:
  std::string description() const override { return host().description(); }
  Memory& memory() override { return host().memory(); }
  Memory& shared_memory() override { return host().shared_memory(); }
  bool can_reach(const Memory& memory) const override { return host().can_reach(memory); }
  void open() override {}
  void close() noexcept override {}
};

std::array<Processor, hardware_count>& processors = *new std::array<Processor, hardware_count>;

ArrayDevice Processor::array_device() const {
  int number = 0;
  while (&processors.at(static_cast<std::size_t>(number)) != this) ++number;
  return {ArrayDevice::extension, number};
}

const int forks_are_noticed = ::pthread_atfork(nullptr, nullptr, [] {
  for (Processor& processor : processors) processor.part_from_parent();
});

}  // namespace

TrialHardware::Access::Access(TrialHardware& hardware) : hardware_(hardware) { hardware.open(); }
TrialHardware::Access::~Access() { hardware_.close(); }

TrialHardware& hardware(std::size_t number) { return processors.at(number); }

TrialHardware& unified_hardware() {
  static UnifiedProcessor& processor = *new UnifiedProcessor;
  return processor;
}

}  // namespace metalloid::engines::trial
