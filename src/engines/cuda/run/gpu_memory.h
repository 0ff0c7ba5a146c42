// A GPU's memory, and memory that it shares with the host.
#pragma once

#include "engines/host_memory.h"

namespace metalloid::engines::cuda {

class Gpu;

class GpuMemory final : public Memory {
 public:
  explicit GpuMemory(Gpu& gpu) : Memory(MemoryKind::device), gpu_(gpu) {}
  std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* address, std::size_t bytes) noexcept override;
  void copy_in(std::byte* to, std::span<const std::byte> from) override;
  void copy_out(std::span<std::byte> to, const std::byte* from) override;

 private:
  Gpu& gpu_;
};

// At the same addresses for both; pages move to who uses them.
class ManagedMemory final : public HostReachedMemory {
 public:
  explicit ManagedMemory(Gpu& gpu) : HostReachedMemory(MemoryKind::managed), gpu_(gpu) {}
  std::byte* allocate(std::size_t bytes) override;
  void release(std::byte* address, std::size_t bytes) noexcept override;

 private:
  Gpu& gpu_;
};

}  // namespace metalloid::engines::cuda
