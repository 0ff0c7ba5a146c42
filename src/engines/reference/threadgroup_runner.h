// Runs the threads of one threadgroup that meet at barriers and cross-lane operations, each on a fiber of its own.
//
// Scheduling. One thread of the operating system runs one threadgroup, so fibers never run at the same time. A lane
// runs until it stops: at a site (kernel_abi.h) or at its end. It then switches straight to another lane of its
// simdgroup that can run. The last lane to stop decides what happens (`settle`):
//
//   1. Lanes wait at cross-lane operations or simdgroup barriers: the site that comes first in the code is carried
//      out, with exactly the lanes that wait there as its active lanes; these can run again.
//   2. Else all live lanes wait at threadgroup barriers: the next simdgroup runs. When no simdgroup can run, the
//      barrier opens. Threads that have ended do not count, as on Apple silicon.
//   3. Else the simdgroup has ended; when all have, the threadgroup has.
//
// Nothing here allocates or locks after prepare(), so that a crashing or endless kernel can be abandoned anywhere.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engines/reference/context_switch.h"
#include "engines/reference/fiber_stacks.h"
#include "engines/reference/kernel_abi.h"

namespace metalloid::engines::reference {

class ThreadgroupRunner {
 public:
  // Makes stacks and matrix registers for threadgroups of at most that many threads.
  void prepare(std::uint32_t threads, std::size_t stack_bytes, std::uint32_t matrix_registers);
  // Runs the threadgroup that `state` describes. `state` must be the one that run-time entry points are called with.
  void run(RunThread kernel, ThreadgroupState& state);
  // After a run was abandoned.
  void reset();
  bool overflowed(const void* fault_address) const { return stacks_.is_guard(fault_address); }

  // Called by the running lane.
  std::uint64_t cross_lane(const Site* site, std::uint64_t value, std::uint32_t operand);
  void barrier(const Site* site);
  void matrices(const Site* site, const MatrixProgram* program);
  std::uint64_t* matrix_registers() { return matrix_registers_.data() + simdgroup_ * matrix_words_ + lane_; }
  std::uint32_t current_lane() const { return lane_; }

 private:
  static constexpr unsigned lanes = 32;

  struct Simdgroup {
    // One bit per lane; a live lane is in exactly one of the three. The running lane counts as runnable.
    std::uint32_t runnable = 0, waiting = 0, at_barrier = 0;
    bool sites_differ = false;   // among the waiting lanes
    const Site* site = nullptr;  // of all waiting lanes, unless they differ
    alignas(64) std::array<std::uint64_t, lanes> values;
    alignas(64) std::array<std::uint32_t, lanes> operands;
    alignas(64) std::array<const Site*, lanes> sites;
    alignas(64) std::array<Context, lanes> contexts;
  };

  void wait_at(Simdgroup& simdgroup, const Site* site);
  void stop();                 // the running lane has left `runnable`; returns when it may go on
  [[noreturn]] void finish();  // the running lane has ended
  // The running simdgroup has no runnable lane. Finds one that has, after carrying out what lanes wait for.
  unsigned settle();
  static constexpr unsigned none = ~0u;
  void carry_out_first_site(Simdgroup& simdgroup);
  template <bool ending>
  void switch_to(unsigned simdgroup);
  void start_lane();
  void announce_switch(void** fake_stack, const void* bottom, std::size_t size);
  void complete_switch(void* fake_stack);
  static void fiber_main(void* runner);

  Simdgroup* group_ = nullptr;  // the running lane's simdgroup, number simdgroup_
  unsigned simdgroup_ = 0, lane_ = 0;
  unsigned simdgroup_count_ = 0;
  std::uint32_t ready_ = 0;  // simdgroups with runnable lanes
  RunThread kernel_ = nullptr;
  ThreadgroupState* state_ = nullptr;
  Context caller_ = nullptr;
  FiberStacks stacks_;
  std::vector<std::uint64_t> matrix_registers_;  // per simdgroup, register and lane
  std::size_t matrix_words_ = 0;                 // per simdgroup
  std::array<Simdgroup, 32> simdgroups_;
  // Address sanitizer's view of the caller's stack.
  enum class FiberPosition : std::uint8_t { outside, entering, inside, leaving };
  FiberPosition fiber_position_ = FiberPosition::outside;
  void* caller_fake_stack_ = nullptr;
  const void* caller_stack_ = nullptr;
  std::size_t caller_stack_size_ = 0;
};

}  // namespace metalloid::engines::reference
