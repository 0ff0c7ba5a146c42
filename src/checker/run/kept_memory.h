// Large memory of screened dispatches that the next ones use again, because fresh pages cost more than what is done
// with them. The system may take its pages back at any time while nobody uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "checker/run/stamps.h"
#include "support/fork_safe_mutex.h"
#include "support/zeroed_array.h"

namespace metalloid::checker {

// What stamps are there are below the next period's, whatever units they are of.
struct StampMemory {
  support::ZeroedArray<Stamp> device, local;
  std::uint32_t device_period = 0, local_period = 0;  // the last ones
};

// Safe to use from several threads.
class KeptMemory {
 public:
  // With room for so many stamps of device memory; throws std::bad_alloc.
  StampMemory take_stamps(std::size_t count);
  void keep(StampMemory stamps);
  // Of that size at least, with anything in it; throws std::bad_alloc.
  support::ZeroedArray<std::byte> take_bytes(std::size_t count);
  void keep(support::ZeroedArray<std::byte> bytes);

 private:
  support::ForkSafeMutex mutex_;
  std::vector<StampMemory> stamps_;
  std::vector<support::ZeroedArray<std::byte>> bytes_;
  std::size_t kept_ = 0;  // bytes
};

}  // namespace metalloid::checker
