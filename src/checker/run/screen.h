// Whether a dispatch may have anything wrong: a question that its simdgroups answer in step, many lanes at a time.
// Where the answer is not no it traps, and who asked runs the dispatch again with Watch, which finds out what is wrong.
//
// All that Watch would tell must be suspected here. Whatever else is suspected costs time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "checker/code/operations.h"
#include "checker/code/screen.h"
#include "checker/run/stamps.h"
#include "checker/run/watch.h"
#include "metalloid/reflection.h"
#include "support/zeroed_array.h"

namespace metalloid::checker {

class Screen {
 public:
  Screen(const KernelInfo& kernel, std::vector<WatchedArgument> arguments, const WatchedGrid& grid, bool strict);
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // By the table that code/screen.h made. False: this dispatch is not one to be screened, because written memory is
  // bound twice, or begins between elements. Throws std::bad_alloc.
  bool prepare(const ScreenedRoot* roots);
  void begin_threadgroup(std::uint64_t index, std::span<std::byte> memory);

  // From generated code; `first` is the simdgroup's first thread, `lanes` has a bit for each one that takes part.
  void access_one(std::uint32_t first, std::uint32_t lanes, const void* address, std::uint32_t root,
                  std::uint64_t bytes, std::uint32_t flags);
  // Lanes side by side, `address` is lane 0's.
  void access_row(std::uint32_t first, std::uint32_t lanes, const void* address, std::uint32_t root,
                  std::uint64_t bytes, std::uint32_t flags);
  // The same of `count` places, each of lanes that are that far from each other; `address` is the first place's.
  void access_shared_row(std::uint32_t first, std::uint32_t lanes, const void* address, std::uint32_t root,
                         std::uint64_t bytes, std::uint32_t flags, std::uint32_t count);
  void access_lanes(std::uint32_t first, std::uint32_t lanes, const void* const* addresses, std::uint32_t root,
                    std::uint64_t bytes, std::uint32_t flags);
  // `operands` has the lanes', if they may differ.
  void meet(std::uint32_t first, std::uint32_t lanes, MeetingStep step, std::uint32_t what, std::uint32_t operand,
            const std::uint32_t* operands);
  void end(std::uint32_t first, std::uint32_t lanes) { simdgroups_[first / 32].ended |= lanes; }
  // What the trap tells: why somebody has to look closer.
  [[noreturn]] void suspect(const char* why);
  const char* reason() const { return reason_; }

 private:
  // Memory with stamps.
  struct Region {
    std::uintptr_t begin = 0;
    std::uint64_t bytes = 0;
    unsigned unit = 0;  // logarithm
    bool is_device = false;
    Stamp first_written = 0;  // reads of what has less are of undefined memory
    Stamp *writers = nullptr, *readers = nullptr;
  };
  struct Simdgroup {
    std::uint32_t exists = 0, ended = 0;
    std::uint32_t at_barrier = 0, what = 0;
    std::uint32_t turn = 0;
  };
  Region& region_of(std::uint32_t root, std::uintptr_t address, std::uint64_t bytes, std::uint32_t flags);
  Moment moment_of(const Region& region, std::uint32_t simdgroup) const;
  std::uint64_t unit_of(const Region& region, std::uintptr_t address, std::uint64_t bytes);
  // `count` lanes from the first on that lie side by side; false: the lanes' units are no power of two.
  bool enter_row(const Region& region, const Moment& at, std::uint64_t unit, std::uint64_t bytes, std::uint32_t lanes,
                 std::uint32_t first_lane, unsigned count, std::uint32_t flags);
  void enter_lane(const Region& region, const Moment& at, std::uint64_t unit, std::uint64_t bytes, std::uint32_t lane,
                  std::uint32_t flags);
  void open_barrier();
  void begin_device_period();
  void begin_local_period();
  void begin_turn(std::uint32_t simdgroup);
  void check_lanes(std::uint32_t simdgroup, std::uint32_t lanes, std::uint32_t what, std::uint32_t operand,
                   const std::uint32_t* operands, bool is_barrier);
  std::uint32_t& around(std::uint32_t simdgroup, std::uint32_t number) { return around_[number * 32 + simdgroup]; }

  const KernelInfo& kernel_;
  const std::vector<WatchedArgument> arguments_;
  const WatchedGrid grid_;
  const bool strict_;
  const char* reason_ = "";

  Region local_;
  support::ZeroedArray<Stamp> local_stamps_, device_stamps_;
  std::vector<Region> regions_;  // by argument
  std::uint32_t local_period_ = 0, device_period_ = 0;
  std::uint32_t local_threadgroup_ = 0, device_threadgroup_ = 0;  // the first period of the one that runs
  std::uint32_t simdgroup_count_ = 0;
  std::array<Simdgroup, 32> simdgroups_;
  bool is_any_around_ = false;
  std::vector<std::uint32_t> around_;  // lanes by the meeting's number and simdgroup
};

}  // namespace metalloid::checker
