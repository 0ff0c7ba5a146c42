// Whether what one worker runs of a dispatch may have anything wrong: a question that simdgroups answer in step, many
// lanes at a time. Where the answer is not no it traps, and who asked runs the dispatch again with Watch, which finds
// out what is wrong. ScreenedDispatch compares what its workers did.
//
// All that Watch would tell must be suspected here. Whatever else is suspected costs time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "checker/code/operations.h"
#include "checker/code/screen.h"
#include "checker/run/kept_memory.h"
#include "checker/run/stamps.h"
#include "checker/run/watch.h"
#include "metalloid/reflection.h"

namespace metalloid::checker {

class Screen {
 public:
  // All of them are to live as long.
  Screen(const KernelInfo& kernel, const std::vector<WatchedArgument>& arguments, const WatchedGrid& grid, bool strict,
         KeptMemory& kept);
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
  // Whether none used memory in a way that another one's use forbids: threadgroups have no order.
  static bool agree(std::span<const std::unique_ptr<Screen>> screens);
  // The dispatch has ended, and nothing was suspected.
  void end_dispatch();

 private:
  // Units of device memory for which it is known together whether anybody used them.
  static constexpr unsigned block_shift = 10;
  enum BlockUse : std::uint8_t { block_read = 1, block_written = 2 };
  // Memory with stamps.
  struct Region {
    std::uintptr_t begin = 0;
    std::uint64_t bytes = 0;
    unsigned unit = 0;  // logarithm
    bool is_device = false;
    bool is_undefined = false;  // when the dispatch began
    Stamp first_written = 0;    // reads of what has less are of undefined memory
    Stamp *writers = nullptr, *readers = nullptr;
    std::uint8_t* uses = nullptr;  // of each block of device memory: BlockUse bits
  };
  struct Simdgroup {
    std::uint32_t exists = 0, ended = 0;
    std::uint32_t at_barrier = 0, what = 0;
    std::uint32_t turn = 0;
  };
  Region& region_of(std::uint32_t root, std::uintptr_t address, std::uint64_t bytes, std::uint32_t flags);
  Region& unknown_region(std::uintptr_t address, std::uint64_t bytes, std::uint32_t flags);
  const Moment& moment_of(const Region& region, std::uint32_t simdgroup);
  Moment new_moment(const Region& region, std::uint32_t simdgroup) const;
  std::uint64_t unit_of(const Region& region, std::uintptr_t address, std::uint64_t bytes);
  static void note_use(const Region& region, std::uint64_t unit, std::uint64_t units, std::uint32_t flags);
  // `count` lanes from the first on that lie side by side; false: the lanes' units are no power of two.
  bool enter_row(const Region& region, const Moment& at, std::uint64_t unit, std::uint64_t bytes, std::uint32_t lanes,
                 std::uint32_t first_lane, unsigned count, std::uint32_t flags);
  void enter_lane(const Region& region, const Moment& at, std::uint64_t unit, std::uint64_t bytes, std::uint32_t lane,
                  std::uint32_t flags);
  void enter_one(const Region& region, const Moment& at, std::uint64_t unit, std::uint64_t bytes, std::uint32_t lanes,
                 std::uint32_t flags);
  template <typename Enter>
  void enter_lanes(Region region, std::uint32_t lanes, const void* const* addresses, std::uint64_t bytes,
                   std::uint32_t flags, Enter enter);
  void open_barrier();
  void begin_dispatch(std::uint32_t period);
  void begin_device_period(bool is_new_threadgroup);
  void begin_local_period();
  void begin_turn(std::uint32_t simdgroup);
  bool agrees_with(const Screen& other) const;
  void check_lanes(std::uint32_t simdgroup, std::uint32_t lanes, std::uint32_t what, std::uint32_t operand,
                   const std::uint32_t* operands, bool is_barrier);
  std::uint32_t& around(std::uint32_t simdgroup, std::uint32_t number) { return around_[number * 32 + simdgroup]; }

  const KernelInfo& kernel_;
  const std::vector<WatchedArgument>& arguments_;
  const WatchedGrid& grid_;
  const bool strict_;
  KeptMemory& kept_;
  const char* reason_ = "";

  Region local_;
  StampMemory stamps_;
  std::vector<Region> regions_;  // by argument
  std::vector<std::uint8_t> uses_;
  // The first periods of the dispatch and of the threadgroup that runs; stamps_ has the last ones.
  std::uint32_t device_dispatch_ = 0, device_threadgroup_ = 0, local_threadgroup_ = 0;
  std::array<Moment, 32> device_moments_, local_moments_;             // by simdgroup,
  std::uint32_t device_moments_known_ = 0, local_moments_known_ = 0;  // those that have a bit here
  std::uint32_t simdgroup_count_ = 0;
  std::array<Simdgroup, 32> simdgroups_;
  bool is_any_around_ = false;
  std::vector<std::uint32_t> around_;  // lanes by the meeting's number and simdgroup
};

}  // namespace metalloid::checker
