// A worker's threadgroup memory. Writes behind its end fault instead of reaching memory of the process.
//
//   16 MiB, forbidden | ... 64 KiB, writable ... | 64 KiB, reads as zeros | 64 MiB, forbidden
//                                      [ block ]
//
// Blocks end where the writable part ends. Reads just behind an array, whose result kernels in use ignore, are forgiven
// as they are on a GPU. Writes up to 127 bytes behind a block whose size is no multiple of 128 are not noticed.
#pragma once

#include <cstddef>

#include "support/guarded_mapping.h"

namespace metalloid::engines::cpu {

class ThreadgroupMemory {
 public:
  // Uninitialised, aligned to 128 bytes, until the next call. At most Metal's limit of threadgroup memory. Throws
  // std::bad_alloc.
  std::byte* block(std::size_t bytes);

 private:
  support::GuardedMapping mapping_;
};

// What a threadgroup finds when it starts: values that show in results, the same in every launch. Kernels that read
// threadgroup memory before they write it, for want of a barrier or of an initialisation, then fail every time.
void poison_threadgroup_memory(std::byte* block, std::size_t bytes);

}  // namespace metalloid::engines::cpu
