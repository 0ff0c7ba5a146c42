#include "engines/reference/threadgroup_runner.h"

#include <algorithm>
#include <bit>

#include "engines/reference/cross_lane.h"
#include "engines/reference/matrices.h"
#include "support/crash_guard.h"
#include "support/sanitizer.h"

namespace metalloid::engines::reference {

namespace {

const void* bottom_of(const FiberStacks& stacks, unsigned index) {
  return static_cast<const std::byte*>(stacks.top(index)) - stacks.size();
}

}  // namespace

// Around each switch, address sanitizer must hear which stack comes next. Between announcement and completion the
// kernel cannot be stopped, or its view and ours would part.
METALLOID_UNSANITIZED void ThreadgroupRunner::announce_switch([[maybe_unused]] void** fake_stack,
                                                              [[maybe_unused]] const void* bottom,
                                                              [[maybe_unused]] std::size_t size) {
#if defined(METALLOID_ADDRESS_SANITIZER)
  support::defer_stops(true);
  __sanitizer_start_switch_fiber(fake_stack, bottom, size);
#endif
}

METALLOID_UNSANITIZED void ThreadgroupRunner::complete_switch([[maybe_unused]] void* fake_stack) {
#if defined(METALLOID_ADDRESS_SANITIZER)
  const void* from = nullptr;
  std::size_t from_size = 0;
  __sanitizer_finish_switch_fiber(fake_stack, &from, &from_size);
  if (fiber_position_ == FiberPosition::entering) {
    caller_stack_ = from;
    caller_stack_size_ = from_size;
    fiber_position_ = FiberPosition::inside;
  } else if (fiber_position_ == FiberPosition::leaving) {
    fiber_position_ = FiberPosition::outside;
  }
  support::defer_stops(false);
#endif
}

METALLOID_UNSANITIZED void ThreadgroupRunner::reset() {
#if defined(METALLOID_ADDRESS_SANITIZER)
  if (fiber_position_ == FiberPosition::inside) {
    announce_switch(nullptr, caller_stack_, caller_stack_size_);
    complete_switch(caller_fake_stack_);
  }
  fiber_position_ = FiberPosition::outside;
#endif
  stacks_.clean();
}

void ThreadgroupRunner::prepare(std::uint32_t threads, std::size_t stack_bytes, std::uint32_t matrix_registers) {
  stacks_.reserve(threads, stack_bytes);
  matrix_words_ = std::size_t{matrix_registers} * lanes;
  const std::size_t words = (threads + lanes - 1) / lanes * matrix_words_;
  if (matrix_registers_.size() < words) matrix_registers_.resize(words);
}

METALLOID_UNSANITIZED void ThreadgroupRunner::run(RunThread kernel, ThreadgroupState& state) {
  kernel_ = kernel;
  state_ = &state;
  stacks_.clean();
  std::uint32_t threads =
      state.threads_per_threadgroup[0] * state.threads_per_threadgroup[1] * state.threads_per_threadgroup[2];
  simdgroup_count_ = (threads + lanes - 1) / lanes;
  for (unsigned s = 0; s < simdgroup_count_; ++s) {
    Simdgroup& simdgroup = simdgroups_[s];
    unsigned count = std::min(threads - s * lanes, lanes);
    simdgroup.runnable = count == lanes ? ~0u : (1u << count) - 1;
    simdgroup.waiting = simdgroup.at_barrier = 0;
    simdgroup.sites_differ = false;
    simdgroup.site = nullptr;
    for (unsigned lane = 0; lane < count; ++lane) {
      simdgroup.contexts[lane] = make_context(stacks_.top(s * lanes + lane), stacks_.size(), fiber_main, this);
    }
  }
  ready_ = simdgroup_count_ == 32 ? ~0u : (1u << simdgroup_count_) - 1;
  simdgroup_ = 0;
  lane_ = 0;
  group_ = &simdgroups_[0];
  announce_switch(&caller_fake_stack_, bottom_of(stacks_, 0), stacks_.size());
  fiber_position_ = FiberPosition::entering;
  switch_context(&caller_, group_->contexts[0]);
  complete_switch(caller_fake_stack_);
}

METALLOID_UNSANITIZED void ThreadgroupRunner::fiber_main(void* argument) {
  auto& runner = *static_cast<ThreadgroupRunner*>(argument);
  runner.complete_switch(nullptr);
  runner.start_lane();
  runner.finish();
}

void ThreadgroupRunner::start_lane() {
  std::uint32_t index = simdgroup_ * lanes + lane_;
  std::uint32_t width = state_->threads_per_threadgroup[0], height = state_->threads_per_threadgroup[1];
  std::uint32_t x = index, y = 0, z = 0;
  if (index >= width) {
    x = index % width;
    y = index / width;
    if (y >= height) {
      z = y / height;
      y %= height;
    }
  }
  kernel_(state_, x, y, z);
}

// To the first runnable lane of a simdgroup. Returns when somebody switches back.
template <bool ending>
METALLOID_UNSANITIZED void ThreadgroupRunner::switch_to(unsigned simdgroup) {
  Context* own = &group_->contexts[lane_];
  simdgroup_ = simdgroup;
  group_ = &simdgroups_[simdgroup];
  lane_ = static_cast<unsigned>(std::countr_zero(group_->runnable));
  void* fake_stack = nullptr;
  announce_switch(ending ? nullptr : &fake_stack, bottom_of(stacks_, simdgroup * lanes + lane_), stacks_.size());
  switch_context(own, group_->contexts[lane_]);
  complete_switch(fake_stack);
}

void ThreadgroupRunner::stop() {
  unsigned target = simdgroup_;
  if (group_->runnable == 0) {
    target = settle();
    // The lane that stopped last goes on first: that saves a switch.
    if (target == simdgroup_ && ((group_->runnable >> lane_) & 1)) return;
  }
  switch_to<false>(target);
}

METALLOID_UNSANITIZED void ThreadgroupRunner::finish() {
  group_->runnable &= ~(1u << lane_);
  unsigned target = group_->runnable != 0 ? simdgroup_ : settle();
  if (target != none) switch_to<true>(target);
  announce_switch(nullptr, caller_stack_, caller_stack_size_);
  fiber_position_ = FiberPosition::leaving;
  switch_context(&group_->contexts[lane_], caller_);
  __builtin_unreachable();
}

unsigned ThreadgroupRunner::settle() {
  if (group_->waiting != 0) {
    carry_out_first_site(*group_);
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
  std::uint32_t active = simdgroup.waiting;
  const Site* site = simdgroup.site;
  if (simdgroup.sites_differ) {
    site = nullptr;
    for (std::uint32_t rest = simdgroup.waiting; rest != 0; rest &= rest - 1) {
      unsigned lane = static_cast<unsigned>(std::countr_zero(rest));
      const Site* other = simdgroup.sites[lane];
      if (!site || other < site) {
        site = other;
        active = 0;
      }
      if (other == site) active |= 1u << lane;
    }
  }
  simdgroup.waiting &= ~active;
  simdgroup.runnable = active;
  if (site->kind == Site::Kind::cross_lane) run_cross_lane(*site, active, simdgroup.values, simdgroup.operands);
  if (site->kind == Site::Kind::matrices) {
    // All lanes at a site bring the same program.
    auto* program = reinterpret_cast<const MatrixProgram*>(simdgroup.values[std::countr_zero(active)]);
    run_matrices(*program, active, matrix_registers_.data() + simdgroup_ * matrix_words_);
  }
}

std::uint64_t ThreadgroupRunner::cross_lane(const Site* site, std::uint64_t value, std::uint32_t operand) {
  Simdgroup& simdgroup = *group_;
  unsigned lane = lane_;
  simdgroup.values[lane] = value;
  simdgroup.operands[lane] = operand;
  wait_at(simdgroup, site);
  stop();
  return simdgroup.values[lane];
}

void ThreadgroupRunner::matrices(const Site* site, const MatrixProgram* program) {
  group_->values[lane_] = reinterpret_cast<std::uintptr_t>(program);
  wait_at(*group_, site);
  stop();
}

void ThreadgroupRunner::barrier(const Site* site) {
  Simdgroup& simdgroup = *group_;
  if (site->kind == Site::Kind::simdgroup_barrier) {
    wait_at(simdgroup, site);
  } else {
    simdgroup.runnable &= ~(1u << lane_);
    simdgroup.at_barrier |= 1u << lane_;
  }
  stop();
}

void ThreadgroupRunner::wait_at(Simdgroup& simdgroup, const Site* site) {
  if (simdgroup.waiting == 0) {
    simdgroup.site = site;
    simdgroup.sites_differ = false;
  } else if (simdgroup.site != site) {
    simdgroup.sites_differ = true;
  }
  simdgroup.sites[lane_] = site;
  simdgroup.runnable &= ~(1u << lane_);
  simdgroup.waiting |= 1u << lane_;
}

}  // namespace metalloid::engines::reference
