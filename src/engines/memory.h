// Memory as engines and the runtime speak of it: where it is, who owns it, and how the host reaches it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "metalloid/reflection.h"

namespace metalloid::engines {

// The memory of one device. Addresses are the device's: only of the host's own memory may the host read and write them.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual bool is_host() const { return false; }
  // Zeroed, aligned to 128 bytes; at least one byte. Throws std::bad_alloc.
  virtual std::byte* allocate(std::size_t bytes) = 0;
  virtual void release(std::byte* address, std::size_t bytes) noexcept = 0;
  virtual void copy_in(std::byte* to, std::span<const std::byte> from) = 0;
  virtual void copy_out(std::span<std::byte> to, const std::byte* from) = 0;
};

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

  std::byte* address() const { return base + offset; }
};

}  // namespace metalloid::engines
