// Blocks of the host's memory for tensors on "mps".
#pragma once

#include <cstddef>

namespace metalloid::torch_device {

// Null if there is none. Aligned to 64 bytes, and as long as whole lines of those.
void* take_block(std::size_t size);
void let_go_of_block(void* block, std::size_t size) noexcept;

// Blocks stay when they are let go of: the system gives and clears pages of large ones anew, one by one, which takes
// longer than most kernels run. So many bytes of large blocks are there for whom they fit; all go back to the system.
std::size_t kept_blocks();
void release_kept_blocks() noexcept;

}  // namespace metalloid::torch_device
