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
constexpr std::uint32_t last_period(unsigned turn_bits) { return (1u << (stamp_bits - period_shift(turn_bits))) - 1; }
constexpr std::uint32_t last_turn = (1u << local_turn_bits) - 1;
// What one threadgroup has left at least.
constexpr std::uint32_t enough_periods = 1u << 16;

}  // namespace

Screen::Screen(const KernelInfo& kernel, const std::vector<WatchedArgument>& arguments, const WatchedGrid& grid,
               bool strict, KeptMemory& kept)
    : kernel_(kernel), arguments_(arguments), grid_(grid), strict_(strict), kept_(kept) {}

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
      if ((root->uses & screened_written) == 0 && argument.is_undefined) return false;
      is_written[root->root] = (root->uses & screened_written) != 0;
      Region& region = regions_[root->root];
      region.begin = begin;
      region.bytes = argument.bytes;
      region.unit = root->unit;
      region.is_device = true;
      region.is_undefined = argument.is_undefined;
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
  std::size_t count = 0, blocks = 0;
  const auto count_of = [](const Region& region) { return (region.bytes >> region.unit) + 1; };
  const auto blocks_of = [&](const Region& region) { return (count_of(region) >> block_shift) + 1; };
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    if (!is_written[i]) continue;
    count += 2 * count_of(regions_[i]);
    blocks += blocks_of(regions_[i]);
  }
  stamps_ = kept_.take_stamps(count);
  if (stamps_.device_period > last_period(device_turn_bits) / 2) {  // so that few dispatches have to begin anew
    stamps_.device = {};
    stamps_.device = support::ZeroedArray<Stamp>(count);
    stamps_.device_period = 0;
  }
  uses_.assign(blocks, 0);
  Stamp* next = stamps_.device.data();
  std::uint8_t* next_uses = uses_.data();
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    if (!is_written[i]) continue;
    regions_[i].writers = next;
    regions_[i].readers = next + count_of(regions_[i]);
    regions_[i].uses = next_uses;
    next = regions_[i].readers + count_of(regions_[i]);
    next_uses += blocks_of(regions_[i]);
  }
  begin_dispatch(++stamps_.device_period);
  around_.assign(std::size_t{most_meetings} * 32, 0);
  return true;
}

void Screen::begin_dispatch(std::uint32_t period) {
  device_dispatch_ = period;
  const auto first = static_cast<Stamp>(period << period_shift(device_turn_bits));
  for (Region& region : regions_) region.first_written = region.is_undefined ? first : 0;
}

void Screen::begin_threadgroup(std::uint64_t index, std::span<std::byte> memory) {
  begin_device_period(/*is_new_threadgroup=*/true);
  device_threadgroup_ = stamps_.device_period;
  if (memory.size() > local_.bytes) {
    const std::size_t count = (memory.size() >> local_.unit) + 1;
    if (stamps_.local.size() < 2 * count) {
      stamps_.local = {};
      stamps_.local = support::ZeroedArray<Stamp>(2 * count);
      stamps_.local_period = 0;
    }
    local_.writers = stamps_.local.data();
    local_.readers = local_.writers + count;
  }
  local_.begin = reinterpret_cast<std::uintptr_t>(memory.data());
  local_.bytes = memory.size();
  begin_local_period();
  local_threadgroup_ = stamps_.local_period;
  local_.first_written = static_cast<Stamp>(stamps_.local_period << period_shift(local_turn_bits));
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

void Screen::begin_device_period(bool is_new_threadgroup) {
  device_moments_known_ = 0;
  const std::uint32_t left = last_period(device_turn_bits) - stamps_.device_period;
  if (left == 0 || (is_new_threadgroup && left < enough_periods)) {
    // What there is becomes what earlier threadgroups did: only the one that runs need be told apart.
    if (!is_new_threadgroup) suspect("too many barriers");
    const auto earlier = static_cast<Stamp>(device_dispatch_ << period_shift(device_turn_bits));
    const Stamp first = 1 << period_shift(device_turn_bits);
    for (std::size_t i = 0; i < stamps_.device.size(); ++i) {
      Stamp& stamp = stamps_.device[i];
      if (stamp != 0) {
        const Stamp many = first | ((stamp & several_lanes) != 0 ? threadgroups_changed : threadgroups_many);
        stamp = stamp < earlier ? 0 : many;
      }
    }
    stamps_.device_period = 1;
    begin_dispatch(stamps_.device_period);
  }
  ++stamps_.device_period;
}

void Screen::begin_local_period() {
  local_moments_known_ = 0;
  const std::uint32_t shift = period_shift(local_turn_bits);
  if (stamps_.local_period == last_period(local_turn_bits)) {
    for (Stamp& writer : std::span(local_.writers, local_.readers)) {
      writer = writer >= local_.first_written ? 1 << shift : 0;
    }
    for (Stamp* rest = local_.readers; rest != stamps_.local.data() + stamps_.local.size(); ++rest) *rest = 0;
    local_.first_written = 1 << shift;
    stamps_.local_period = 1;
  }
  ++stamps_.local_period;
  for (std::uint32_t i = 0; i < simdgroup_count_; ++i) simdgroups_[i].turn = 0;
}

void Screen::begin_turn(std::uint32_t simdgroup) {
  local_moments_known_ &= ~(std::uint32_t{1} << simdgroup);
  if (simdgroups_[simdgroup].turn == last_turn) {
    const Moment at = new_moment(local_, simdgroup);
    for (std::size_t i = 0; i < stamps_.local.size(); ++i) {
      Stamp& stamp = stamps_.local[i];
      if (stamp >= at.simdgroup && stamp < at.simdgroup_end) stamp = at.simdgroup | (stamp & ((1 << lane_bits) - 1));
    }
    simdgroups_[simdgroup].turn = 0;
  }
  ++simdgroups_[simdgroup].turn;
}

Moment Screen::new_moment(const Region& region, std::uint32_t simdgroup) const {
  const bool is_device = region.is_device;
  const unsigned turn_bits = is_device ? device_turn_bits : local_turn_bits;
  const std::uint32_t shift = period_shift(turn_bits), own_shift = lane_bits + turn_bits;
  const auto index = static_cast<Stamp>(simdgroup);
  const auto first_of = [&](std::uint32_t period) { return static_cast<Stamp>(period << shift); };
  const Stamp period = first_of(is_device ? stamps_.device_period : stamps_.local_period);
  const Stamp own = period | index << own_shift;
  return {.dispatch = is_device ? first_of(device_dispatch_) : 0,
          .threadgroup = first_of(is_device ? device_threadgroup_ : local_threadgroup_),
          .period = period,
          .simdgroup = own,
          .now = is_device ? own : own | static_cast<Stamp>(simdgroups_[simdgroup].turn << lane_bits),
          .simdgroup_end = period + ((index + 1) << own_shift),
          .many_simdgroups = period | simdgroup_many << own_shift | several_lanes};
}

void Screen::end_dispatch() {
  kept_.keep(std::move(stamps_));
  stamps_ = {};
}

bool Screen::agree(std::span<const std::unique_ptr<Screen>> screens) {
  for (std::size_t i = 0; i < screens.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!screens[i]->agrees_with(*screens[j])) return false;
    }
  }
  return true;
}

bool Screen::agrees_with(const Screen& other) const {
  const auto dispatch = static_cast<Stamp>(device_dispatch_ << period_shift(device_turn_bits));
  const auto other_dispatch = static_cast<Stamp>(other.device_dispatch_ << period_shift(device_turn_bits));
  for (std::size_t i = 0; i < regions_.size(); ++i) {
    const Region &region = regions_[i], &its = other.regions_[i];
    if (!region.writers) continue;
    const std::uint64_t units = region.bytes >> region.unit;
    for (std::uint64_t first = 0, block = 0; first < units; first += 1u << block_shift, ++block) {
      const std::uint8_t own = region.uses[block], others = its.uses[block];
      if (own == 0 || others == 0 || ((own | others) & block_written) == 0) continue;
      const UnitStamps mine{region.writers + first, region.readers + first, dispatch};
      const UnitStamps theirs{its.writers + first, its.readers + first, other_dispatch};
      const auto count = static_cast<unsigned>(std::min<std::uint64_t>(units - first, 1u << block_shift));
      if (!is_shared_well(mine, theirs, count, ((own | others) & block_read) != 0)) return false;
    }
  }
  return true;
}

}  // namespace metalloid::checker
