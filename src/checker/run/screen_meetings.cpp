// Barriers and operations across lanes of a screened dispatch: those that meetings.cpp would tell something of.
#include <bit>

#include "checker/run/screen.h"
#include "ir/operations.h"

namespace metalloid::checker {
namespace {

using ir::CrossLane;

std::uint32_t number_of(std::uint32_t what) {
  const std::uint32_t number = what >> meeting_number_shift;
  return number < most_meetings ? number : 0;
}

// All lanes of the quadgroups that one of the lanes is in.
std::uint32_t whole_quads(std::uint32_t lanes) {
  lanes |= (lanes >> 1 & 0x55555555) | (lanes & 0x55555555) << 1;
  return lanes | (lanes >> 2 & 0x33333333) | (lanes & 0x33333333) << 2;
}

}  // namespace

void Screen::meet(std::uint32_t first, std::uint32_t lanes, MeetingStep step, std::uint32_t what, std::uint32_t operand,
                  const std::uint32_t* operands) {
  if (lanes == 0) return;
  const std::uint32_t index = first / 32, number = number_of(what);
  Simdgroup& simdgroup = simdgroups_[index];
  switch (step) {
    case MeetingStep::fence: return;
    case MeetingStep::go_around:
      if (operands) {
        std::uint32_t go = 0;
        for (std::uint32_t lane = 0; lane < 32; ++lane) go |= std::uint32_t{operands[lane] != 0} << lane;
        lanes &= go;
      } else if (operand == 0) {
        return;
      }
      if (lanes == 0) return;
      around(index, number) |= lanes;
      is_any_around_ = true;
      return;
    case MeetingStep::come_to_threadgroup_barrier:
      if (is_any_around_) around(index, number) &= ~lanes;
      if (simdgroup.at_barrier != 0 && simdgroup.what != what) suspect("lanes at two barriers");
      simdgroup.at_barrier |= lanes;
      simdgroup.what = what;
      return;
    case MeetingStep::leave_threadgroup_barrier:
      // The first to leave speaks for all; it may come to the next one before the others leave.
      if (simdgroup.at_barrier != 0) open_barrier();
      return;
    case MeetingStep::come_to_simdgroup_barrier:
    case MeetingStep::come_to_operation:
      if (is_any_around_) around(index, number) &= ~lanes;
      check_lanes(index, lanes, what, operand, operands, step == MeetingStep::come_to_simdgroup_barrier);
      return;
    case MeetingStep::leave_simdgroup_barrier:
      if ((what & ir::threadgroup_memory) != 0 && local_.writers) begin_turn(index);
      return;
    case MeetingStep::leave_operation: return;
  }
}

void Screen::open_barrier() {
  std::uint32_t all = ~0u, number = ~0u;
  for (std::uint32_t i = 0; i < simdgroup_count_; ++i) {
    const Simdgroup& simdgroup = simdgroups_[i];
    if (simdgroup.at_barrier == 0) continue;
    if (number != ~0u && number_of(simdgroup.what) != number) suspect("simdgroups at two barriers");
    number = number_of(simdgroup.what);
    all &= simdgroup.what;
  }
  for (std::uint32_t i = 0; i < simdgroup_count_; ++i) {
    Simdgroup& simdgroup = simdgroups_[i];
    const std::uint32_t missing = simdgroup.exists & ~simdgroup.at_barrier;
    if (missing != 0 && (strict_ || (missing & around(i, number)) != 0)) suspect("a barrier that not all come to");
    simdgroup.at_barrier = 0;
  }
  if ((all & ir::device_memory) != 0) begin_device_period(/*is_new_threadgroup=*/false);
  if ((all & ir::threadgroup_memory) != 0) begin_local_period();
}

void Screen::check_lanes(std::uint32_t index, std::uint32_t lanes, std::uint32_t what, std::uint32_t operand,
                         const std::uint32_t* operands, bool is_barrier) {
  const Simdgroup& simdgroup = simdgroups_[index];
  const std::uint32_t number = number_of(what), kind = what & 0xfff;
  const bool is_matrix = !is_barrier && kind == matrix_meeting;
  const auto operation = static_cast<CrossLane>(kind & 0xff);
  const bool is_quad = !is_barrier && !is_matrix && (kind & quad_meeting) != 0;

  if (is_barrier || is_matrix || operation < CrossLane::broadcast) {
    std::uint32_t missing = simdgroup.exists & ~lanes;
    if (is_quad) missing &= whole_quads(lanes);
    if (missing != 0) missing &= ~simdgroup.ended | around(index, number);
    if (missing != 0 || (is_matrix && lanes != ~0u)) suspect("lanes are missing");
    return;
  }
  if (operation == CrossLane::ballot || operation == CrossLane::broadcast_first) return;

  const std::uint32_t width = is_quad ? 4 : 32;
  const auto first_lane = static_cast<unsigned>(std::countr_zero(lanes));
  if (!operands && lanes == ~0u && operand < width) return;  // all take part, so that any lane is a source
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    const std::uint32_t own = lane % width, base = lane - own;
    const std::uint32_t by = operands ? operands[lane] : operand;
    const bool is_with_first = !is_quad || lane / 4 == first_lane / 4;
    if (operation != CrossLane::shuffle && is_with_first && operands && by != operands[first_lane]) {
      suspect("an argument that is not uniform");
    }
    std::uint32_t source = own;
    switch (operation) {
      case CrossLane::broadcast:
      case CrossLane::shuffle: source = by; break;
      case CrossLane::shuffle_up: source = own >= by ? own - by : own; break;
      case CrossLane::shuffle_down: source = by < width - own ? own + by : own; break;
      case CrossLane::shuffle_xor: source = (own ^ by) < width ? own ^ by : own; break;
      case CrossLane::rotate_up: source = (own + width - by % width) % width; break;
      case CrossLane::rotate_down: source = (own + by) % width; break;
      default: break;
    }
    if (source >= width || (lanes >> (base + source) & 1) == 0) suspect("a source that takes no part");
  }
}

}  // namespace metalloid::checker
