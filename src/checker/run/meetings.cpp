// Barriers and operations across lanes: who came, and who should have come.
#include <algorithm>
#include <bit>

#include "checker/run/access.h"
#include "checker/run/watch.h"
#include "ir/operations.h"

namespace metalloid::checker {
namespace {

using ir::CrossLane;

std::uint32_t number_of(std::uint32_t what) { return what >> meeting_number_shift; }
bool names(std::uint32_t what, ir::MemoryFlag memory) { return (what & memory) != 0; }

}  // namespace

bool Watch::went_around(std::uint32_t thread, std::uint32_t number) const {
  return number != 0 && number < most_meetings && around_[thread][number];
}

void Watch::meet(MeetingStep step, std::uint32_t what, std::uint32_t operand, std::uint32_t thread, const Site* site) {
  settle(/*is_written=*/true);
  Simdgroup& simdgroup = simdgroups_[thread / 32];
  const std::uint32_t lane = thread % 32, number = number_of(what);
  switch (step) {
    case MeetingStep::fence: has_fences_ = true; return;
    case MeetingStep::go_around:
      if (number < most_meetings && operand != 0) around_[thread][number] = true;
      return;
    case MeetingStep::come_to_threadgroup_barrier:
      if (number < most_meetings) around_[thread][number] = false;
      at_barrier_[thread] = {site, what};
      return;
    case MeetingStep::leave_threadgroup_barrier:
      // The first to leave speaks for all; it may come to the next one before the others leave.
      if (at_barrier_[thread].site) open_barrier();
      return;
    case MeetingStep::come_to_simdgroup_barrier:
    case MeetingStep::come_to_operation:
      if (number < most_meetings) around_[thread][number] = false;
      simdgroup.sites[lane] = site;
      simdgroup.operands[lane] = operand;
      simdgroup.whats[lane] = what;
      simdgroup.came |= 1u << lane;
      return;
    case MeetingStep::leave_simdgroup_barrier:
    case MeetingStep::leave_operation:
      if ((simdgroup.came >> lane & 1) != 0) {
        carry_out(thread / 32, simdgroup.whats[lane], simdgroup.sites[lane],
                  step == MeetingStep::leave_simdgroup_barrier);
      }
      return;
  }
}

void Watch::end(std::uint32_t thread) {
  settle(/*is_written=*/true);
  simdgroups_[thread / 32].ended |= 1u << thread % 32;
}

void Watch::open_barrier() {
  const Site* first = nullptr;
  std::uint32_t first_thread = 0, what = 0, all = ~0u;
  for (std::uint32_t thread = 0; thread < threads_; ++thread) {
    const AtBarrier& at = at_barrier_[thread];
    if (!at.site) continue;
    all &= at.what;
    if (!first) {
      first = at.site;
      first_thread = thread;
      what = at.what;
    } else if (number_of(at.what) != number_of(what) && looks_for(CheckClass::barrier_divergence) &&
               is_new(CheckClass::barrier_divergence, first->id, at.site->id, 0)) {
      add(two_barriers_finding(first_thread, first, thread, at.site));
    }
  }
  for (std::uint32_t thread = 0; thread < threads_; ++thread) {
    if (at_barrier_[thread].site) continue;
    const bool around = went_around(thread, number_of(what));
    if (!around && !session_->options.strict) continue;
    // It may have been told which barrier the others came to instead.
    const bool is_told = std::any_of(known_.begin(), known_.end(), [&](const auto& known) {
      const auto& [kind, a, b, root] = known.first;
      return kind == CheckClass::barrier_divergence && a != 0 && (a == first->id || b == first->id);
    });
    if (!is_told && looks_for(CheckClass::barrier_divergence) &&
        is_new(CheckClass::barrier_divergence, first->id, 0, 0)) {
      add(missed_barrier_finding(first_thread, first, thread, around));
    }
    break;
  }
  ++period_;
  clock_.threadgroup_barrier(names(all, ir::device_memory), names(all, ir::threadgroup_memory));
  if (names(all, ir::threadgroup_memory)) first_stores_.clear();
  std::fill(at_barrier_.begin(), at_barrier_.end(), AtBarrier{});
}

// All lanes that came to this place go on together.
void Watch::carry_out(std::uint32_t index, std::uint32_t what, const Site* site, bool is_barrier) {
  Simdgroup& simdgroup = simdgroups_[index];
  std::uint32_t came = 0;
  for (std::uint32_t rest = simdgroup.came; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    if (simdgroup.sites[lane] == site) came |= 1u << lane;
  }
  simdgroup.came &= ~came;
  check_lanes(index, is_barrier ? what | 0x80000000u : what, site, came);
  if (is_barrier) {
    ++period_;
    clock_.simdgroup_barrier(index, names(what, ir::device_memory), names(what, ir::threadgroup_memory));
  }
}

void Watch::check_lanes(std::uint32_t index, std::uint32_t what, const Site* site, std::uint32_t came) {
  const Simdgroup& simdgroup = simdgroups_[index];
  const bool is_barrier = (what & 0x80000000u) != 0;
  const std::uint32_t number = number_of(what & 0x7fffffffu), kind = what & 0xfff;
  const bool is_matrix = !is_barrier && kind == matrix_meeting;
  const auto operation = static_cast<CrossLane>(kind & 0xff);
  const bool is_quad = !is_barrier && !is_matrix && (kind & quad_meeting) != 0;
  const bool is_reduction = !is_barrier && !is_matrix && operation < CrossLane::broadcast;
  const std::uint32_t first_lane = static_cast<std::uint32_t>(std::countr_zero(came));

  if (is_barrier || is_matrix || is_reduction) {
    std::uint32_t missing = 0;
    for (std::uint32_t rest = simdgroup.exists & ~came; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
      if (is_quad && (came >> (lane & ~3u) & 0xf) == 0) continue;
      const bool ended = (simdgroup.ended >> lane & 1) != 0;
      if (!ended || went_around(index * 32 + lane, number)) missing |= 1u << lane;
    }
    // Products need all lanes, whatever became of the others.
    if (is_matrix) missing |= ~came;
    if (missing != 0 && looks_for(CheckClass::divergent_operation) &&
        is_new(CheckClass::divergent_operation, site->id, 0, 0)) {
      add(missing_lanes_finding(index, first_lane, missing, site, is_barrier, is_matrix));
    }
    return;
  }
  if (operation == CrossLane::ballot || operation == CrossLane::broadcast_first) return;

  const std::uint32_t width = is_quad ? 4 : 32;
  bool is_uniform = true;
  std::uint32_t bad_lane = 32, bad_source = 0;
  for (std::uint32_t rest = came; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint32_t operand = simdgroup.operands[lane], own = lane % width, base = lane - own;
    if (!is_quad || lane / 4 == first_lane / 4) is_uniform &= operand == simdgroup.operands[first_lane];
    std::int64_t source = -1;  // a lane of the group; none: it keeps its own value
    switch (operation) {
      case CrossLane::broadcast:
      case CrossLane::shuffle: source = operand < width ? std::int64_t{operand} : 64; break;
      case CrossLane::shuffle_up: source = own >= operand ? std::int64_t{own - operand} : -1; break;
      case CrossLane::shuffle_down: source = operand < width - own ? std::int64_t{own + operand} : -1; break;
      case CrossLane::shuffle_xor: source = (own ^ operand) < width ? std::int64_t{own ^ operand} : -1; break;
      case CrossLane::rotate_up: source = (own + width - operand % width) % width; break;
      case CrossLane::rotate_down: source = (own + operand) % width; break;
      default: break;
    }
    if (source < 0 || bad_lane != 32) continue;
    if (source >= width || (came >> (base + source) & 1) == 0) {
      bad_lane = lane;
      bad_source = source >= width ? operand : static_cast<std::uint32_t>(source);
    }
  }
  const bool wants_uniform = operation != CrossLane::shuffle;
  if (wants_uniform && !is_uniform && looks_for(CheckClass::non_uniform) &&
      is_new(CheckClass::non_uniform, site->id, 0, 0)) {
    add(non_uniform_finding(index, came, site, operation));
  }
  if (bad_lane != 32 && looks_for(CheckClass::inactive_lane) && is_new(CheckClass::inactive_lane, site->id, 0, 0)) {
    add(inactive_lane_finding(index, bad_lane, bad_source, site));
  }
}

}  // namespace metalloid::checker
