#include "engines/reference/threadgroup_runner.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "engines/cpu/run/cross_lane.h"
#include "engines/cpu/run/matrices.h"

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
  const LaneBoard& board = simdgroup.board;
  if (among == all_lanes && !on_fibers_) {  // the usual case, and one for vector instructions
    std::uintptr_t differences = 0;
    for (const Site* site : board.sites) {
      differences |= reinterpret_cast<std::uintptr_t>(site) ^ reinterpret_cast<std::uintptr_t>(board.sites[0]);
    }
    if (differences == 0) return {board.sites[0], among};
  }
  FirstSite first;
  const CallPath* path = nullptr;
  for (std::uint32_t rest = among; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const Place place = {board.sites[lane], on_fibers_ ? simdgroup.paths[lane] : nullptr};
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
  if (on_fibers_) fibers_.reserve(threads);
  frames_.reserve(threads, facts.frame_bytes);
  matrix_words_ = std::size_t{facts.matrix_registers} * lanes;
  const std::size_t words = (threads + lanes - 1) / lanes * matrix_words_;
  if (matrix_registers_.size() < words) matrix_registers_.resize(words);
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
    simdgroup.runnable = count == lanes ? all_lanes : (1u << count) - 1;
    simdgroup.waiting = simdgroup.at_barrier = 0;
    simdgroup.started = false;
  }
  ready_ = simdgroup_count_ == 32 ? ~0u : (1u << simdgroup_count_) - 1;
  for (simdgroup_ = 0; simdgroup_ != none; simdgroup_ = settle()) run_lanes(simdgroups_[simdgroup_]);
}

// All runnable lanes, until each has stopped.
void ThreadgroupRunner::run_lanes(Simdgroup& simdgroup) {
  const std::uint32_t running = simdgroup.runnable;
  if (on_fibers_) {
    current_runner = this;
    for (std::uint32_t rest = running; rest != 0; rest &= rest - 1) {
      lane_ = static_cast<unsigned>(std::countr_zero(rest));
      if (simdgroup.started) {
        fibers_.resume(thread());
      } else {
        prepare_lane();
        fibers_.start(thread(), fiber_main);
      }
    }
  } else {
    lanes_to_run_ = running;
    stack_->run(simdgroup.started ? resume_lanes : start_lanes, this);
  }
  simdgroup.started = true;
  simdgroup.runnable = 0;
  for (std::uint32_t rest = running; rest != 0;) {
    const FirstSite stopped = first_site(simdgroup, rest);
    rest &= ~stopped.lanes;
    if (!stopped.site) continue;  // they have ended
    (stopped.site->kind == Site::Kind::threadgroup_barrier ? simdgroup.at_barrier : simdgroup.waiting) |= stopped.lanes;
  }
}

template <typename Run>
void** ThreadgroupRunner::for_each_lane(Run run) {
  auto& runner = *static_cast<ThreadgroupRunner*>(KernelStack::current_owner());
  std::byte* const frames = runner.frames_.of(runner.simdgroup_ * lanes);
  const std::size_t stride = runner.frames_.stride();
  for (std::uint32_t rest = runner.lanes_to_run_; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    runner.lane_ = lane;
    run(runner, frames + lane * stride);
    if (&runner != KernelStack::current_owner()) __builtin_trap();  // the kernel ran over what is kept here
  }
  return KernelStack::way_back();
}

void** ThreadgroupRunner::start_lanes() {
  return for_each_lane([](ThreadgroupRunner& runner, void*) {
    runner.prepare_lane();
    runner.start_thread();
  });
}

void** ThreadgroupRunner::resume_lanes() {
  return for_each_lane([](ThreadgroupRunner&, void* frame) { (*static_cast<ResumeThread*>(frame))(frame); });
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
    // simdgroup's reads and another's later writes.
    const std::uint32_t later = simdgroup_ == 31 ? 0 : ready_ >> (simdgroup_ + 1) << (simdgroup_ + 1);
    return static_cast<unsigned>(std::countr_zero(later != 0 ? later : ready_));
  }
  ready_ &= ~(1u << simdgroup_);
  if (ready_ != 0) return static_cast<unsigned>(std::countr_zero(ready_));
  for (unsigned s = 0; s < simdgroup_count_; ++s) {
    Simdgroup& simdgroup = simdgroups_[s];
    if (simdgroup.at_barrier == 0) continue;
    simdgroup.runnable = simdgroup.at_barrier;
    simdgroup.at_barrier = 0;
    ready_ |= 1u << s;
  }
  if (ready_ == 0) return none;
  return (ready_ >> simdgroup_) & 1 ? simdgroup_ : static_cast<unsigned>(std::countr_zero(ready_));
}

void ThreadgroupRunner::carry_out_first_site(Simdgroup& simdgroup) {
  const auto [site, active] = first_site(simdgroup, simdgroup.waiting);
  simdgroup.waiting &= ~active;
  simdgroup.runnable = active;
  if (site->kind == Site::Kind::cross_lane) {
    cpu::run_cross_lane({static_cast<ir::LaneGroup>(site->group), static_cast<ir::CrossLane>(site->operation),
                         static_cast<ir::LaneType>(site->type)},
                        active, simdgroup.board.values, simdgroup.board.operands);
  }
  if (site->kind == Site::Kind::matrices) {
    // All lanes at a site bring the same program.
    auto* program = reinterpret_cast<const MatrixProgram*>(simdgroup.board.values[std::countr_zero(active)]);
    cpu::run_matrices(*program, active, matrix_registers_.data() + simdgroup_ * matrix_words_);
  }
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

std::uint64_t ThreadgroupRunner::cross_lane(const Site* site, std::uint64_t value, std::uint32_t operand) {
  LaneBoard& board = simdgroups_[simdgroup_].board;
  const unsigned lane = lane_;
  board.values[lane] = value;
  board.operands[lane] = operand;
  stop_at(site);
  return board.values[lane];
}

void ThreadgroupRunner::matrices(const Site* site, const MatrixProgram* program) {
  simdgroups_[simdgroup_].board.values[lane_] = reinterpret_cast<std::uintptr_t>(program);
  stop_at(site);
}

}  // namespace metalloid::engines::reference
