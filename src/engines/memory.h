// Memory as engines and the runtime speak of it: where it is, who can reach it, and who owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "metalloid/reflection.h"

namespace metalloid::engines {

enum class MemoryKind : std::uint8_t {
  host,     // the process's own
  device,   // a device's alone: the host has it copied
  pinned,   // the host's, at addresses that devices use too
  managed,  // at the same addresses for both, and moves to who uses it
};

// Addresses are the memory's own: the host reads and writes only those that it can reach.
class Memory {
 public:
  explicit Memory(MemoryKind kind) : kind_(kind) {}
  virtual ~Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  MemoryKind kind() const { return kind_; }
  bool host_can_reach() const { return kind_ != MemoryKind::device; }
  // Two addresses are to be compared if their memories say the same: all that the host can reach is one space.
  const void* address_space() const { return host_can_reach() ? nullptr : this; }

  // Zeroed, aligned to allocation_alignment; at least one byte. Throws std::bad_alloc.
  virtual std::byte* allocate(std::size_t bytes) = 0;
  virtual void release(std::byte* address, std::size_t bytes) noexcept = 0;
  // To and from memory that the host can reach.
  virtual void copy_in(std::byte* to, std::span<const std::byte> from) = 0;
  virtual void copy_out(std::span<std::byte> to, const std::byte* from) = 0;

 private:
  const MemoryKind kind_;
};

inline constexpr std::size_t allocation_alignment = 128;

// What an argument of a dispatch lets a kernel reach.
struct BoundMemory {
  // Whose memory it is: a buffer's, or bytes that were given with the dispatch and end with it.
  enum class Owner : std::uint8_t { none, buffer, dispatch };

  std::byte* base = nullptr;  // where the owner's memory begins; null if nothing is bound
  std::size_t size = 0;       // bytes of the owner's memory
  std::size_t offset = 0;     // bytes from there to where the argument begins
  Access access = Access::read;
  Owner owner = Owner::none;
  Memory* memory = nullptr;  // in which base is an address
  // The part of the owner's memory that the dispatch names, which is all that is copied where memory is: all of it for
  // pointers, which lead backwards too (negative strides), one object for references, for tensors their elements.
  std::size_t named_begin = 0, named_end = 0;

  std::byte* address() const { return base + offset; }
};

}  // namespace metalloid::engines
