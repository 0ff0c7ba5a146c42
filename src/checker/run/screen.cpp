#include "checker/run/screen.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "checker/run/access.h"

namespace metalloid::checker {
namespace {

// Turns are of threadgroup memory alone: behind a barrier of a simdgroup that orders device memory, too, that memory's
// accesses are still taken for unordered.
constexpr unsigned local_turn_bits = 7, device_turn_bits = 0;
constexpr std::uint32_t period_shift(unsigned turn_bits) { return lane_bits + turn_bits + simdgroup_bits; }
constexpr std::uint32_t last_period(unsigned turn_bits) { return ~std::uint32_t{0} >> period_shift(turn_bits); }
constexpr std::uint32_t last_turn = (1u << local_turn_bits) - 1;

}  // namespace

Screen::Screen(const KernelInfo& kernel, std::vector<WatchedArgument> arguments, const WatchedGrid& grid, bool strict)
    : kernel_(kernel), arguments_(std::move(arguments)), grid_(grid), strict_(strict) {}

Screen::~Screen() = default;

bool Screen::prepare(const ScreenedRoot* roots) {
  regions_.assign(arguments_.size(), {});
  std::vector<bool> is_written(arguments_.size(), false);
  for (const ScreenedRoot* root = roots;; ++root) {
    if (root->root == first_threadgroup_root) local_.unit = root->unit;
    if (root->root < first_threadgroup_root) {
      const WatchedArgument& argument = arguments_[root->root];
      const auto begin = reinterpret_cast<std::uintptr_t>(argument.address);
      if (!is_aligned(argument, 0, std::uintptr_t{1} << root->alignment)) return false;
      // Whether it was written is known of what is stamped.
      if (root->is_written == 0 && argument.is_undefined) return false;
      is_written[root->root] = root->is_written != 0;
      Region& region = regions_[root->root];
      region.begin = begin;
      region.bytes = argument.bytes;
      region.unit = root->unit;
      region.is_device = true;
      region.first_written = argument.is_undefined ? 1 : 0;
    }
    if (root->root == unknown_root) break;
  }
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (!is_written[i]) continue;
    const std::byte *begin = arguments_[i].address, *end = begin + arguments_[i].bytes;
    for (std::size_t j = 0; j < arguments_.size(); ++j) {
      if (j != i && arguments_[j].address < end && begin < arguments_[j].address + arguments_[j].bytes) return false;
    }
  }
  std::size_t count = 0;
  const auto count_of = [](const Region& region) { return (region.bytes >> region.unit) + 1; };
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    if (is_written[i]) count += 2 * count_of(regions_[i]);
  }
  device_stamps_ = support::ZeroedArray<Stamp>(count);
  Stamp* next = device_stamps_.data();
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    if (!is_written[i]) continue;
    regions_[i].writers = next;
    regions_[i].readers = next + count_of(regions_[i]);
    next = regions_[i].readers + count_of(regions_[i]);
  }
  around_.assign(std::size_t{most_meetings} * 32, 0);
  return true;
}

void Screen::begin_threadgroup(std::uint64_t index, std::span<std::byte> memory) {
  begin_device_period();
  device_threadgroup_ = device_period_;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  if (memory.size() > local_.bytes) {
    const std::size_t count = (memory.size() >> local_.unit) + 1;
    local_stamps_ = support::ZeroedArray<Stamp>(2 * count);
    local_.writers = local_stamps_.data();
    local_.readers = local_.writers + count;
    local_period_ = 0;
  }
  local_.begin = begin;
  local_.bytes = memory.size();
  begin_local_period();
  local_threadgroup_ = local_period_;
  local_.first_written = local_period_ << period_shift(local_turn_bits);
  const auto threads = static_cast<std::uint32_t>(threads_of(grid_, static_cast<std::uint32_t>(index + 1)).volume());
  simdgroup_count_ = (threads + 31) / 32;
  for (std::uint32_t i = 0; i < simdgroup_count_; ++i) {
    const std::uint32_t count = std::min(threads - 32 * i, 32u);
    simdgroups_[i] = {.exists = count == 32 ? ~0u : (1u << count) - 1};
  }
  if (is_any_around_) std::fill(around_.begin(), around_.end(), 0);
  is_any_around_ = false;
}

void Screen::suspect(const char* why) {
  reason_ = why;
  __builtin_trap();  // into the crash guard
}

void Screen::begin_device_period() {
  if (device_period_ == last_period(device_turn_bits)) {
    // What there is becomes what earlier threadgroups did: only the one that runs need be told apart.
    if (device_threadgroup_ != device_period_ && device_threadgroup_ != 0) suspect("too many barriers");
    for (std::size_t i = 0; i < device_stamps_.size(); ++i) {
      Stamp& stamp = device_stamps_[i];
      if (stamp != 0) stamp = (stamp & several_lanes) != 0 ? threadgroups_changed : threadgroups_many;
    }
    device_period_ = 0;
  }
  ++device_period_;
}

void Screen::begin_local_period() {
  const std::uint32_t shift = period_shift(local_turn_bits);
  if (local_period_ == last_period(local_turn_bits)) {
    for (std::size_t i = 0; i < local_stamps_.size() / 2; ++i) {
      local_.writers[i] = local_.writers[i] >= local_.first_written ? 1u << shift : 0;
      local_.readers[i] = 0;
    }
    local_.first_written = 1u << shift;
    local_period_ = 1;
  }
  ++local_period_;
  for (std::uint32_t i = 0; i < simdgroup_count_; ++i) simdgroups_[i].turn = 0;
}

void Screen::begin_turn(std::uint32_t simdgroup) {
  if (simdgroups_[simdgroup].turn == last_turn) {
    const Moment at = moment_of(local_, simdgroup);
    for (std::size_t i = 0; i < local_stamps_.size(); ++i) {
      Stamp& stamp = local_stamps_[i];
      if (stamp >= at.simdgroup && stamp < at.simdgroup_end) stamp = at.simdgroup | (stamp & ((1u << lane_bits) - 1));
    }
    simdgroups_[simdgroup].turn = 0;
  }
  ++simdgroups_[simdgroup].turn;
}

Moment Screen::moment_of(const Region& region, std::uint32_t simdgroup) const {
  const unsigned turn_bits = region.is_device ? device_turn_bits : local_turn_bits;
  const std::uint32_t shift = period_shift(turn_bits), own_shift = lane_bits + turn_bits;
  const Stamp period = (region.is_device ? device_period_ : local_period_) << shift;
  const Stamp own = period | simdgroup << own_shift;
  return {.threadgroup = (region.is_device ? device_threadgroup_ : local_threadgroup_) << shift,
          .period = period,
          .simdgroup = own,
          .now = own | (region.is_device ? 0 : simdgroups_[simdgroup].turn << lane_bits),
          .simdgroup_end = period | (simdgroup + 1) << own_shift,
          .many_simdgroups = period | simdgroup_many << own_shift | several_lanes};
}

Screen::Region& Screen::region_of(std::uint32_t root, std::uintptr_t address, std::uint64_t bytes,
                                  std::uint32_t flags) {
  static Region nothing;
  if (root < first_threadgroup_root) return regions_[root];
  if (root == first_threadgroup_root) return local_;
  if (address - local_.begin < local_.bytes) return local_;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (address - reinterpret_cast<std::uintptr_t>(arguments_[i].address) >= arguments_[i].bytes) continue;
    if ((flags & access_writes) != 0 && kernel_.arguments[i].access == metalloid::Access::read) suspect("read-only");
    if (address - reinterpret_cast<std::uintptr_t>(arguments_[i].address) + bytes > arguments_[i].bytes) break;
    return regions_[i];
  }
  if ((flags & access_any_space) == 0) suspect("an unknown address");
  return nothing;  // a variable of the thread's
}

std::uint64_t Screen::unit_of(const Region& region, std::uintptr_t address, std::uint64_t bytes) {
  const std::uint64_t offset = address - region.begin, mask = (std::uint64_t{1} << region.unit) - 1;
  if (bytes > region.bytes || offset > region.bytes - bytes) suspect("out of bounds");
  if ((offset & mask) != 0 || (bytes & mask) != 0) suspect("between units");
  return offset >> region.unit;
}

bool Screen::enter_row(const Region& region, const Moment& at, std::uint64_t unit, std::uint64_t bytes,
                       std::uint32_t lanes, std::uint32_t first_lane, unsigned count, std::uint32_t flags) {
  const std::uint64_t own = bytes >> region.unit;
  if (!std::has_single_bit(own)) return false;
  const auto shift = static_cast<unsigned>(std::countr_zero(own));
  const UnitRow row{region.writers + unit, region.readers + unit, count << shift, shift, lanes, first_lane};
  const bool is_fine = (flags & access_writes) != 0 ? write_row(row, at, region.is_device)
                                                    : read_row(row, at, region.is_device, region.first_written);
  if (!is_fine) suspect("a race, or undefined memory");
  return true;
}

void Screen::enter_lane(const Region& region, const Moment& at, std::uint64_t unit, std::uint64_t bytes,
                        std::uint32_t lane, std::uint32_t flags) {
  const Stamp own = at.now + lane;
  std::uint32_t bad = 0;
  for (std::uint64_t end = unit + (bytes >> region.unit); unit < end; ++unit) {
    Stamp &writer = region.writers[unit], &reader = region.readers[unit];
    if ((flags & access_atomic) != 0) {
      const Stamp first_written = (flags & access_reads) != 0 ? region.first_written : 0;
      bad |= region.is_device ? change_unit<true>(writer, reader, own, at, first_written)
                              : change_unit<false>(writer, reader, own, at, first_written);
    } else if ((flags & access_writes) != 0) {
      bad |= region.is_device ? write_unit<true>(writer, reader, own, at) : write_unit<false>(writer, reader, own, at);
    } else {
      bad |= region.is_device ? read_unit<true>(writer, reader, own, at, region.first_written)
                              : read_unit<false>(writer, reader, own, at, region.first_written);
    }
  }
  if (bad != 0) suspect("a race, or undefined memory");
}

void Screen::access_one(std::uint32_t first, std::uint32_t lanes, const void* address, std::uint32_t root,
                        std::uint64_t bytes, std::uint32_t flags) {
  if (lanes == 0 || bytes == 0) return;
  const auto at_address = reinterpret_cast<std::uintptr_t>(address);
  const Region& region = region_of(root, at_address, bytes, flags);
  if (!region.writers) return;
  const Moment at = moment_of(region, first / 32);
  const std::uint64_t unit = unit_of(region, at_address, bytes);
  if (std::has_single_bit(lanes)) {
    enter_lane(region, at, unit, bytes, static_cast<std::uint32_t>(std::countr_zero(lanes)), flags);
  } else if ((flags & access_atomic) != 0) {
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      enter_lane(region, at, unit, bytes, static_cast<std::uint32_t>(std::countr_zero(rest)), flags);
    }
  } else if ((flags & access_writes) != 0) {
    suspect("lanes write one place");
  } else {
    enter_lane(region, at, unit, bytes, several_lanes, flags);
  }
}

void Screen::access_row(std::uint32_t first, std::uint32_t lanes, const void* address, std::uint32_t root,
                        std::uint64_t bytes, std::uint32_t flags) {
  if (lanes == 0 || bytes == 0) return;
  const auto first_lane = static_cast<unsigned>(std::countr_zero(lanes));
  const unsigned count = 32 - static_cast<unsigned>(std::countl_zero(lanes)) - first_lane;
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(address) + first_lane * bytes;
  const Region& region = region_of(root, begin, count * bytes, flags);
  if (!region.writers) return;
  const Moment at = moment_of(region, first / 32);
  const std::uint64_t unit = unit_of(region, begin, count * bytes);
  if ((flags & access_atomic) == 0 &&
      enter_row(region, at, unit, bytes, lanes >> first_lane, first_lane, count, flags)) {
    return;
  }
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    enter_lane(region, at, unit + (lane - first_lane) * (bytes >> region.unit), bytes, lane, flags);
  }
}

void Screen::access_shared_row(std::uint32_t first, std::uint32_t lanes, const void* address, std::uint32_t root,
                               std::uint64_t bytes, std::uint32_t flags, std::uint32_t count) {
  if (lanes == 0 || bytes == 0) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  std::uint32_t places = lanes;
  for (std::uint32_t step = 16; step >= count; step /= 2) places |= places >> step;
  places &= (std::uint32_t{1} << count) - 1;
  const auto first_place = static_cast<unsigned>(std::countr_zero(places));
  const unsigned length = 32 - static_cast<unsigned>(std::countl_zero(places)) - first_place;
  const Region& region = region_of(root, begin + first_place * bytes, length * bytes, flags);
  if (!region.writers) return;
  const Moment at = moment_of(region, first / 32);
  const std::uint64_t unit = unit_of(region, begin + first_place * bytes, length * bytes);
  const bool is_shared = (flags & (access_writes | access_atomic)) == 0 && std::popcount(places) < std::popcount(lanes);
  if (is_shared && enter_row(region, at, unit, bytes, places >> first_place, several_lanes, length, flags)) return;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    enter_lane(region, at, unit + (lane % count - first_place) * (bytes >> region.unit), bytes, lane, flags);
  }
}

void Screen::access_lanes(std::uint32_t first, std::uint32_t lanes, const void* const* addresses, std::uint32_t root,
                          std::uint64_t bytes, std::uint32_t flags) {
  if (bytes == 0) return;
  const auto address_of = [&](unsigned lane) { return reinterpret_cast<std::uintptr_t>(addresses[lane]); };
  while (lanes != 0) {
    // As many as lie side by side, or at one place.
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const std::uintptr_t begin = address_of(lane);
    unsigned count = 1;
    while (lane + count < 32 && (lanes >> (lane + count) & 1) != 0 &&
           address_of(lane + count) == begin + count * bytes) {
      ++count;
    }
    unsigned same = 1;
    while (lane + same < 32 && (lanes >> (lane + same) & 1) != 0 && address_of(lane + same) == begin) ++same;
    const unsigned taken = std::max(count, same);
    const std::uint32_t part = (taken == 32 ? ~0u : (1u << taken) - 1) << lane;
    if (same > 1) {
      access_one(first, part, addresses[lane], root, bytes, flags);
    } else {
      access_row(first, part, reinterpret_cast<const void*>(begin - lane * bytes), root, bytes, flags);
    }
    lanes &= ~part;
  }
}

}  // namespace metalloid::checker
