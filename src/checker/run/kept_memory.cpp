#include "checker/run/kept_memory.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace metalloid::checker {
namespace {

constexpr std::size_t most_kept = std::size_t{1} << 30, most_arrays = 64;

std::size_t bytes_of(const support::ZeroedArray<std::byte>& bytes) { return bytes.size(); }
std::size_t bytes_of(const StampMemory& stamps) { return (stamps.device.size() + stamps.local.size()) * sizeof(Stamp); }
std::size_t room_of(const support::ZeroedArray<std::byte>& bytes) { return bytes.size(); }
std::size_t room_of(const StampMemory& stamps) { return stamps.device.size(); }

// The smallest one that is large enough, or else the largest.
template <typename Memory>
Memory take(support::ForkSafeMutex& mutex, std::vector<Memory>& all, std::size_t& kept, std::size_t count) {
  const std::lock_guard lock(mutex);
  if (all.empty()) return {};
  const auto is_better = [&](const Memory& a, const Memory& b) {
    const bool fits = room_of(a) >= count;
    return fits != (room_of(b) >= count) ? fits : fits == (room_of(a) < room_of(b));
  };
  const auto best = std::ranges::min_element(all, is_better);
  Memory taken = std::move(*best);
  std::swap(*best, all.back());
  all.pop_back();
  kept -= bytes_of(taken);
  return taken;
}

template <typename Memory>
void keep_it(support::ForkSafeMutex& mutex, std::vector<Memory>& all, std::size_t& kept, Memory& memory) {
  const std::lock_guard lock(mutex);
  const std::size_t bytes = bytes_of(memory);
  if (bytes > most_kept - kept || all.size() == most_arrays) return;  // freed by its owner
  all.push_back(std::move(memory));
  kept += bytes;
}

}  // namespace

StampMemory KeptMemory::take_stamps(std::size_t count) {
  StampMemory stamps = take(mutex_, stamps_, kept_, count);
  if (stamps.device.size() < count) {
    stamps.device = {};  // before there is more
    stamps.device = support::ZeroedArray<Stamp>(count);
    stamps.device_period = 0;
  }
  return stamps;
}

void KeptMemory::keep(StampMemory stamps) {
  // Zeros are of no dispatch, too.
  stamps.device.offer_to_system();
  stamps.local.offer_to_system();
  keep_it(mutex_, stamps_, kept_, stamps);
}

support::ZeroedArray<std::byte> KeptMemory::take_bytes(std::size_t count) {
  support::ZeroedArray<std::byte> bytes = take(mutex_, bytes_, kept_, count);
  if (bytes.size() < count) {
    bytes = {};
    bytes = support::ZeroedArray<std::byte>(count);
  }
  return bytes;
}

void KeptMemory::keep(support::ZeroedArray<std::byte> bytes) {
  bytes.offer_to_system();
  keep_it(mutex_, bytes_, kept_, bytes);
}

}  // namespace metalloid::checker
