#include "engines/reference/threadgroup_runner.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "checker/run/watch.h"
#include "engines/reference/cross_lane.h"
#include "engines/reference/matrices.h"

namespace metalloid::engines::reference {
namespace {

constexpr std::uint32_t all_lanes = ~0u;

// For threads on fibers.
__attribute__((tls_model("initial-exec"))) thread_local ThreadgroupRunner* current_runner = nullptr;

unsigned depth_of(const CallPath* path) {
  unsigned depth = 0;
  for (; path; path = path->caller) ++depth;
  return depth;
}

// A crash of the kernel (support/crash_guard.h).
[[noreturn]] void end_of_wrong_kernel() { __builtin_trap(); }

// Where a lane stopped: a site, and the calls that it is in.
struct Place {
  const Site* site;
  const CallPath* path;
};

// Which place comes first in the code: less than zero if it is a, zero if they are one. Entries of one function are
// compared by address: those of the outermost calls that differ, or of the sites.
std::intptr_t compare(Place a, Place b) {
  if (!a.site || !b.site || (!a.path && !b.path)) {
    return reinterpret_cast<std::intptr_t>(a.site) - reinterpret_cast<std::intptr_t>(b.site);
  }
  const unsigned depth_a = depth_of(a.path), depth_b = depth_of(b.path);
  const auto step_out = [](Place& place) { place = {place.path->call, place.path->caller}; };
  for (unsigned d = depth_a; d > depth_b; --d) step_out(a);
  for (unsigned d = depth_b; d > depth_a; --d) step_out(b);
  std::intptr_t difference = 0;
  while (true) {
    if (a.site != b.site) {
      difference = reinterpret_cast<std::intptr_t>(a.site) - reinterpret_cast<std::intptr_t>(b.site);
    }
    if (!a.path) break;
    step_out(a);
    step_out(b);
  }
  return difference != 0 ? difference : std::intptr_t{depth_a} - std::intptr_t{depth_b};
}

}  // namespace

ThreadgroupRunner::FirstSite ThreadgroupRunner::first_site(const Simdgroup& simdgroup, std::uint32_t among) const {
  FirstSite first;
  const CallPath* path = nullptr;
  for (std::uint32_t rest = among; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const Place place = {simdgroup.board.sites[lane], on_fibers_ ? simdgroup.paths[lane] : nullptr};
    const std::intptr_t order = first.lanes == 0 ? -1 : compare(place, {first.site, path});
    if (order < 0) {
      first = {place.site, 0};
      path = place.path;
    }
    if (order <= 0) first.lanes |= 1u << lane;
  }
  return first;
}

void ThreadgroupRunner::prepare(std::uint32_t threads, const void* engine_facts, ThreadMemory& variables,
                                KernelStack& stack) {
  MeetingFacts facts;
  std::memcpy(&facts, engine_facts, sizeof(facts));
  stack_ = &stack;
  variables_ = &variables;
  on_fibers_ = facts.on_fibers != 0;
  by_masks_ = facts.by_masks != 0;
  barriers_by_masks_ = facts.barriers_by_masks != 0;
  if (on_fibers_) fibers_.reserve(threads);
  frames_.reserve(threads, facts.frame_bytes);
}

void ThreadgroupRunner::run(void* entry, ThreadgroupState& state) {
  kernel_ = reinterpret_cast<RunThread>(entry);
  path_ = nullptr;
  state_ = &state;
  if (on_fibers_) fibers_.reset();
  const std::uint32_t threads =
      state.threads_per_threadgroup[0] * state.threads_per_threadgroup[1] * state.threads_per_threadgroup[2];
  simdgroup_count_ = (threads + lanes - 1) / lanes;
  for (unsigned s = 0; s < simdgroup_count_; ++s) {
    Simdgroup& simdgroup = simdgroups_[s];
    const unsigned count = std::min(threads - s * lanes, lanes);
    simdgroup.runnable = simdgroup.agreed = count == lanes ? all_lanes : (1u << count) - 1;
    simdgroup.waiting = simdgroup.at_barrier = 0;
    simdgroup.started = false;
  }
  ready_ = simdgroup_count_ == 32 ? ~0u : (1u << simdgroup_count_) - 1;
  choose_orders();
  for (simdgroup_ = next_of(ready_, simdgroup_order_); simdgroup_ != none; simdgroup_ = settle())
    run_lanes(simdgroups_[simdgroup_]);
}

// All runnable lanes, until each has stopped.
void ThreadgroupRunner::run_lanes(Simdgroup& simdgroup) {
  const bool starts = !std::exchange(simdgroup.started, true);
  const std::uint32_t running = std::exchange(simdgroup.runnable, 0);
  if (on_fibers_) {
    current_runner = this;
    for (std::uint32_t rest = running; rest != 0; rest &= ~(1u << lane_)) {
      lane_ = next_of(rest, lane_order_);
      if (starts) {
        prepare_lane();
        fibers_.start(thread(), fiber_main);
      } else {
        fibers_.resume(thread());
      }
    }
  } else {
    lanes_to_run_ = running;
    stack_->run(starts ? start_lanes : resume_lanes, this);
  }
  for (std::uint32_t rest = running; rest != 0; rest &= rest - 1) {
    const Site* site = simdgroup.board.sites[std::countr_zero(rest)];
    if (!site) continue;  // it has ended
    (site->kind == Site::Kind::threadgroup_barrier ? simdgroup.at_barrier : simdgroup.waiting) |= rest & -rest;
  }
  const std::uint32_t at_barrier = simdgroup.at_barrier & running;
  if (barriers_by_masks_ && at_barrier != 0 && std::exchange(simdgroup.agreed, 0) != at_barrier) end_of_wrong_kernel();
}

// A kernel may run over what is kept on its stack, so each turn asks anew who runs which lane.
void** ThreadgroupRunner::start_lanes() {
  while (ThreadgroupRunner* runner = take_lane()) {
    runner->prepare_lane();
    runner->start_thread();
  }
  return KernelStack::way_back();
}

void** ThreadgroupRunner::resume_lanes() {
  while (ThreadgroupRunner* runner = take_lane()) {
    void* frame = runner->frames_.of(runner->thread());
    (*static_cast<ResumeThread*>(frame))(frame);
  }
  return KernelStack::way_back();
}

ThreadgroupRunner* ThreadgroupRunner::take_lane() {
  auto* runner = static_cast<ThreadgroupRunner*>(KernelStack::current_owner());
  if (runner->lanes_to_run_ == 0) return nullptr;
  runner->lane_ = runner->next_of(runner->lanes_to_run_, runner->lane_order_);
  runner->lanes_to_run_ &= ~(1u << runner->lane_);
  return runner;
}

unsigned ThreadgroupRunner::next_of(std::uint32_t bits, const Order& order) const {
  if (is_ordered_) return static_cast<unsigned>(std::countr_zero(bits));
  for (const std::uint8_t bit : order) {
    if ((bits >> bit & 1) != 0) return bit;
  }
  return 0;
}

// Anew for each threadgroup.
void ThreadgroupRunner::choose_orders() {
  is_ordered_ = true;
  if (!state_->watch) return;
  const std::uint32_t* at = state_->threadgroup_position_in_grid;
  const std::uint64_t round = 1 + at[0] + 0x10000ull * at[1] + 0x100000000ull * at[2];
  for (std::uint32_t i = 0; i < lanes; ++i) {
    lane_order_[i] = static_cast<std::uint8_t>(state_->watch->permuted(i, lanes, 2 * round));
    simdgroup_order_[i] = static_cast<std::uint8_t>(state_->watch->permuted(i, lanes, 2 * round + 1));
    is_ordered_ = is_ordered_ && lane_order_[i] == i && simdgroup_order_[i] == i;
  }
}

void ThreadgroupRunner::prepare_lane() {
  state_->lane = &simdgroups_[simdgroup_].board.values[lane_];
  state_->frame = frames_.of(thread());
  state_->private_memory = variables_->of(thread());
}

void ThreadgroupRunner::start_thread() {
  const std::uint32_t width = state_->threads_per_threadgroup[0], height = state_->threads_per_threadgroup[1];
  std::uint32_t x = thread(), y = 0, z = 0;
  if (x >= width) {
    y = x / width;
    x %= width;
    z = y / height;
    y %= height;
  }
  kernel_(state_, x, y, z);
}

unsigned ThreadgroupRunner::settle() {
  if (simdgroups_[simdgroup_].waiting != 0) {
    carry_out_first_site(simdgroups_[simdgroup_]);
    // Simdgroups take turns, as they do on a GPU: kernels in use count on it where they lack a barrier between one
    // simdgroup's reads and another's later writes, and what is compared with this engine has to come out alike.
    const std::uint32_t later = simdgroup_ == 31 ? 0 : ready_ >> (simdgroup_ + 1) << (simdgroup_ + 1);
    return next_of(later != 0 && is_ordered_ ? later : ready_, simdgroup_order_);
  }
  ready_ &= ~(1u << simdgroup_);
  if (ready_ != 0) return next_of(ready_, simdgroup_order_);
  for (unsigned s = 0; s < simdgroup_count_; ++s) {
    Simdgroup& simdgroup = simdgroups_[s];
    if (simdgroup.at_barrier == 0) continue;
    simdgroup.runnable = simdgroup.at_barrier;
    simdgroup.at_barrier = 0;
    ready_ |= 1u << s;
  }
  if (ready_ == 0) return none;
  if (!is_ordered_) return next_of(ready_, simdgroup_order_);
  return (ready_ >> simdgroup_) & 1 ? simdgroup_ : static_cast<unsigned>(std::countr_zero(ready_));
}

void ThreadgroupRunner::carry_out_first_site(Simdgroup& simdgroup) {
  const auto [site, active] = next_site(simdgroup);
  simdgroup.waiting &= ~active;
  simdgroup.runnable = active;
  LaneBoard& board = simdgroup.board;
  if (site->kind == Site::Kind::agree) {
    simdgroup.agreed = active;
    return;
  }
  if (by_masks_ && std::exchange(simdgroup.agreed, 0) != active) end_of_wrong_kernel();
  if (site->kind == Site::Kind::cross_lane) {
    run_cross_lane({static_cast<ir::LaneGroup>(site->group_or_type), static_cast<ir::CrossLane>(site->operation),
                    static_cast<ir::LaneType>(site->type)},
                   active, board.values, board.operands);
  }
  if (site->kind == Site::Kind::matrix) {
    run_matrix_operation({static_cast<ir::MatrixAction>(site->operation), static_cast<ir::MatrixElement>(site->type),
                          static_cast<ir::MatrixElement>(site->group_or_type)},
                         active, board.values, board.operands, board.addends);
  }
}

ThreadgroupRunner::FirstSite ThreadgroupRunner::next_site(const Simdgroup& simdgroup) const {
  if (!by_masks_) return first_site(simdgroup, simdgroup.waiting);
  std::uint32_t rest = simdgroup.agreed != 0 ? simdgroup.agreed & simdgroup.waiting : simdgroup.waiting;
  while (rest != 0) {
    const FirstSite first = first_site(simdgroup, rest);
    if (first.site->kind != Site::Kind::agree || agree(simdgroup, first.lanes)) return first;
    rest &= ~first.lanes;
  }
  end_of_wrong_kernel();
}

bool ThreadgroupRunner::agree(const Simdgroup& simdgroup, std::uint32_t lanes) {
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    if (static_cast<std::uint32_t>(simdgroup.board.values[std::countr_zero(rest)]) != lanes) return false;
  }
  return true;
}

void ThreadgroupRunner::fiber_main() {
  current_runner->start_thread();
  asm volatile("" ::: "memory");
  current_runner->stop_at(nullptr);
}

void ThreadgroupRunner::stop_at(const Site* site) {
  Simdgroup& simdgroup = simdgroups_[simdgroup_];
  simdgroup.board.sites[lane_] = site;
  simdgroup.paths[lane_] = std::exchange(path_, nullptr);
  fibers_.stop();
}

std::uint64_t ThreadgroupRunner::cross_lane(const Site* site, std::uint64_t value, std::uint64_t operand,
                                            std::uint64_t addend) {
  LaneBoard& board = simdgroups_[simdgroup_].board;
  const unsigned lane = lane_;
  board.values[lane] = value;
  board.operands[lane] = operand;
  board.addends[lane] = addend;
  stop_at(site);
  return board.values[lane];
}

}  // namespace metalloid::engines::reference
