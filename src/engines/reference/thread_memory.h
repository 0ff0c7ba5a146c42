// A piece of memory for each thread of a threadgroup, reused from threadgroup to threadgroup.
#pragma once

#include <cstddef>
#include <cstdint>

namespace metalloid::engines::reference {

class ThreadMemory {
 public:
  ThreadMemory() = default;
  ~ThreadMemory() { release(); }
  ThreadMemory(const ThreadMemory&) = delete;
  ThreadMemory& operator=(const ThreadMemory&) = delete;

  // Makes that many pieces of at least that many bytes, aligned to 128. Throws std::bad_alloc.
  void reserve(std::uint32_t count, std::size_t bytes);
  std::byte* of(std::uint32_t thread) const { return memory_ + thread * stride_; }

 private:
  void release();
  std::byte* memory_ = nullptr;
  std::size_t mapped_ = 0, stride_ = 0;
};

}  // namespace metalloid::engines::reference
