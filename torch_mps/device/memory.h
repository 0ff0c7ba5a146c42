// Memory of tensors on "mps": host memory, which the CPU's operators and Metal kernels both reach.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/intrusive_ptr.h>

#include <cstddef>
#include <optional>

namespace metalloid::torch_device {

// What c10::GetAllocator(DeviceType::MPS) answers.
c10::Allocator& allocator();
// Of the host, known as pinned: torch's device-to-host copies need nothing else of it.
c10::Allocator& pinned_allocator();
bool is_pinned(const void* address);

// Memory that somebody else allocated becomes memory of the device; `owner` keeps it.
c10::DataPtr adopt(c10::DataPtr owner, std::size_t size);
c10::intrusive_ptr<c10::StorageImpl> adopt(c10::intrusive_ptr<c10::StorageImpl> owner);

struct Allocation {
  std::byte* base;
  std::size_t size;  // bytes
};

// The allocation of the device that begins at this address. Hosts in Objective-C have nothing but the address.
std::optional<Allocation> allocation_at(const void* base);

struct MemoryUse {
  std::size_t now, peak;  // bytes
  std::size_t allocations, frees;
};
MemoryUse memory_use();
std::size_t physical_memory();  // bytes

}  // namespace metalloid::torch_device
