#include "engines/cuda/run/gpu_memory.h"

#include <algorithm>
#include <cstring>

#include "engines/cuda/run/gpu.h"

namespace metalloid::engines::cuda {
namespace {

constexpr unsigned attached_to_all = 1;

std::byte* pointer(Address address) { return reinterpret_cast<std::byte*>(address); }
Address number(const std::byte* pointer) { return reinterpret_cast<Address>(pointer); }

}  // namespace

std::byte* GpuMemory::allocate(std::size_t bytes) {
  const auto entered = gpu_.enter();
  bytes = std::max(bytes, std::size_t{1});
  Address address = 0;
  driver().check(driver().allocate(&address, bytes), "an allocation");
  driver().fill_with_zeros(address, bytes);
  return pointer(address);
}

void GpuMemory::release(std::byte* address, std::size_t /*bytes*/) noexcept {
  try {
    const auto entered = gpu_.enter();
    driver().release(number(address));
  } catch (...) {  // with its context the memory is gone, too
  }
}

void GpuMemory::copy_in(std::byte* to, std::span<const std::byte> from) {
  if (from.empty()) return;
  const auto entered = gpu_.enter();
  driver().copy_and_wait(number(to), from.data(), from.size());
}

void GpuMemory::copy_out(std::span<std::byte> to, const std::byte* from) {
  if (to.empty()) return;
  const auto entered = gpu_.enter();
  driver().check(driver().copy_out(to.data(), number(from), to.size()), "a copy");
}

std::byte* ManagedMemory::allocate(std::size_t bytes) {
  const auto entered = gpu_.enter();
  bytes = std::max(bytes, std::size_t{1});
  Address address = 0;
  driver().check(driver().allocate_managed(&address, bytes, attached_to_all), "an allocation");
  std::memset(pointer(address), 0, bytes);
  return pointer(address);
}

void ManagedMemory::release(std::byte* address, std::size_t bytes) noexcept { gpu_.memory().release(address, bytes); }

}  // namespace metalloid::engines::cuda
