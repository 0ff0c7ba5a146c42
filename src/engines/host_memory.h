// The process's own memory.
#pragma once

#include "engines/memory.h"

namespace metalloid::engines {

// What the host reads and writes where it is, from malloc or from pages of its own.
class HostReachedMemory : public Memory {
 public:
  using Memory::Memory;
  std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* address, std::size_t bytes) noexcept override;
  void copy_in(std::byte* to, std::span<const std::byte> from) override;
  void copy_out(std::span<std::byte> to, const std::byte* from) override;
};

// Lives as long as the process.
Memory& host_memory();

}  // namespace metalloid::engines
