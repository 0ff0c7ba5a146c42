// Runs the threads of one threadgroup that meet at barriers and cross-lane operations.
//
// Scheduling. One thread of the operating system runs one threadgroup. A lane runs until it stops: at a site
// (meeting_abi.h) or at its end. All lanes of a simdgroup that can run do so one after the other; then `settle` decides
// what happens:
//
//   1. Lanes wait at cross-lane operations or simdgroup barriers: the site that comes first in the code is carried
//      out, with exactly the lanes that wait there as its active lanes; these can run again. In a function that stays
//      a call, one site is as many as there are ways of calls to it (CallPath).
//   2. Else all live lanes wait at threadgroup barriers: the next simdgroup runs. When no simdgroup can run, the
//      barrier opens. Threads that have ended do not count, as on Apple silicon.
//   3. Else the simdgroup has ended; when all have, the threadgroup has.
//
// Where operations name their lanes (expand_masks.h) the runner decides nothing of that: it carries out what all lanes
// of a mask, and no others, have come to. If lanes wait and there is no such thing the kernel is wrong, and ends.
//
// A lane stops by returning, with what it needs later in its frame (split_at_meetings.h); in the rare kernels where it
// cannot, it has a fiber.
//
// Nothing here allocates or locks after prepare(), so that a crashing or endless kernel can be abandoned anywhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engines/cpu_shared/run/kernel_stack.h"
#include "engines/cpu_shared/run/thread_memory.h"
#include "engines/cpu_shared/run/thread_runner.h"
#include "engines/reference/fibers.h"
#include "engines/reference/meeting_abi.h"

namespace metalloid::engines::reference {

using cpu::KernelStack;
using cpu::ThreadMemory;

class ThreadgroupRunner final : public cpu::ThreadRunner {
 public:
  void prepare(std::uint32_t threads, const void* engine_facts, ThreadMemory& variables, KernelStack& stack) override;
  void run(void* entry, ThreadgroupState& state) override;
  void reset() override { fibers_.reset(); }
  bool is_outside_stack(const void* address) const override { return on_fibers_ && fibers_.is_guard(address); }
  const std::byte* end_of_stack(const void* address) const override {
    return on_fibers_ ? fibers_.end_of_stack(address) : nullptr;
  }
  bool is_outside_variables(const void* address) const override { return frames_.is_guard(address); }

  // Called by the running lane, if it has a fiber.
  std::uint64_t cross_lane(const Site* site, std::uint64_t value, std::uint64_t operand, std::uint64_t addend);
  void barrier(const Site* site) { stop_at(site); }
  void call_path(const CallPath* path) { path_ = path; }
  // Also called by lanes that have none.
  std::uint32_t thread() const override { return simdgroup_ * lanes + lane_; }

 private:
  static constexpr unsigned lanes = LaneBoard::lanes;

  struct Simdgroup {
    // One bit per lane; a live lane is in exactly one of the three.
    std::uint32_t runnable = 0, waiting = 0, at_barrier = 0;
    std::uint32_t agreed = 0;  // those that come to the next operation together, by their masks
    bool started = false;
    LaneBoard board;
    const CallPath* paths[LaneBoard::lanes] = {};  // of lanes on fibers
  };

  struct FirstSite {
    const Site* site = nullptr;
    std::uint32_t lanes = 0;
  };
  // Of these lanes' places in the code, the first, and which of them wait there.
  FirstSite first_site(const Simdgroup& simdgroup, std::uint32_t among) const;
  // The site that is carried out next.
  FirstSite next_site(const Simdgroup& simdgroup) const;

  // The order in which lanes and simdgroups run that can: that of their numbers, unless a checked dispatch asks for
  // another one.
  using Order = std::array<std::uint8_t, 32>;
  void choose_orders();
  unsigned next_of(std::uint32_t bits, const Order& order) const;

  void run_lanes(Simdgroup& simdgroup);
  void prepare_lane();
  void start_thread();
  // On the kernel's stack or a fiber, where a kernel may run over what is kept there (kernel_stack.h).
  static void** start_lanes();
  static void** resume_lanes();
  static ThreadgroupRunner* take_lane();  // null when all have run
  static void fiber_main();
  void stop_at(const Site* site);
  // The running simdgroup has no runnable lane. Finds one that has, after carrying out what lanes wait for.
  unsigned settle();
  static constexpr unsigned none = ~0u;
  void carry_out_first_site(Simdgroup& simdgroup);
  // Whether all lanes that wait at a site, and no others, are in the mask of each of them.
  static bool agree(const Simdgroup& simdgroup, std::uint32_t lanes);

  unsigned simdgroup_ = 0, lane_ = 0;  // of the running lane
  std::uint32_t lanes_to_run_ = 0;     // of the running simdgroup, behind the running lane
  unsigned simdgroup_count_ = 0;
  std::uint32_t ready_ = 0;  // simdgroups with runnable lanes
  bool is_ordered_ = true;
  Order lane_order_{}, simdgroup_order_{};
  RunThread kernel_ = nullptr;
  ThreadgroupState* state_ = nullptr;
  const CallPath* path_ = nullptr;  // of the meeting to which the running lane comes
  bool on_fibers_ = false, by_masks_ = false, barriers_by_masks_ = false;
  KernelStack* stack_ = nullptr;
  Fibers fibers_;
  ThreadMemory frames_;
  ThreadMemory* variables_ = nullptr;
  std::array<Simdgroup, 32> simdgroups_;
};

}  // namespace metalloid::engines::reference
