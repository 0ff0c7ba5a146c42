// A worker's threadgroup memory. Writes behind its end fault instead of reaching memory of the process.
//
//   ... 64 KiB, writable ... | 64 KiB, reads as zeros | 64 MiB, forbidden
//                  [ block ]
//
// Blocks end where the writable part ends. Reads just behind an array, whose result kernels in use ignore, are forgiven
// as they are on a GPU. Writes up to 127 bytes behind a block whose size is no multiple of 128 are not noticed.
#pragma once

#include <cstddef>

namespace metalloid::engines::reference {

class ThreadgroupMemory {
 public:
  ThreadgroupMemory() = default;
  ~ThreadgroupMemory();
  ThreadgroupMemory(const ThreadgroupMemory&) = delete;
  ThreadgroupMemory& operator=(const ThreadgroupMemory&) = delete;

  // Uninitialised, aligned to 128 bytes, until the next call. At most Metal's limit of threadgroup memory. Throws
  // std::bad_alloc.
  std::byte* block(std::size_t bytes);

 private:
  std::byte* mapping_ = nullptr;
};

}  // namespace metalloid::engines::reference
