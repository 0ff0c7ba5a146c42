// The screen suspects what a plain list of all accesses shows to be wrong, and nothing else.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "checker/run/screen.h"
#include "ir/operations.h"
#include "support/crash_guard.h"

namespace metalloid::checker {
namespace check_screen_test {

constexpr std::uint32_t threads = 96, simdgroups = 3, elements = 64;
enum class Memory { device, local };

struct Access {
  Memory memory;
  unsigned element;
  std::uint32_t threadgroup, thread;
  bool writes, atomic;
  // How many barriers that order the memory came before: of the threadgroup, and of the thread's simdgroup.
  std::uint32_t period, turn;
};

// What the checker has to find out.
class History {
 public:
  explicit History(bool is_device_undefined) { is_written_[0].fill(!is_device_undefined); }
  void begin_threadgroup() {
    ++threadgroup_;
    barrier(true, true);
    is_written_[1] = {};
  }
  void barrier(bool device, bool local) {
    periods_[0] += device;
    periods_[1] += local;
  }
  void simdgroup_barrier(std::uint32_t simdgroup) { ++turns_[simdgroup]; }

  // Whether something is wrong with it.
  bool add(Memory memory, unsigned element, std::uint32_t thread, bool reads, bool writes, bool atomic) {
    const bool is_local = memory == Memory::local;
    const Access access{memory, element, threadgroup_,       thread,
                        writes, atomic,  periods_[is_local], is_local ? turns_[thread / 32] : 0};
    bool is_wrong = reads && !is_written_[is_local][element];
    for (const Access& earlier : accesses_) is_wrong |= races(earlier, access);
    if (writes) is_written_[is_local][element] = true;
    accesses_.push_back(access);
    return is_wrong;
  }
  // Suspected too often are plain accesses behind a thread's own atomic ones, and atomic ones of device memory behind
  // the threadgroup's own plain writes.
  bool is_excused(Memory memory, unsigned element, std::uint32_t thread, bool atomic) const {
    for (const Access& earlier : accesses_) {
      if (earlier.threadgroup != threadgroup_ || earlier.memory != memory || earlier.element != element) continue;
      if (!atomic && earlier.atomic && earlier.thread == thread) return true;
      if (atomic && !earlier.atomic && earlier.writes && memory == Memory::device) return true;
    }
    return false;
  }

 private:
  static bool races(const Access& a, const Access& b) {
    if (a.memory != b.memory || a.element != b.element || (!a.writes && !b.writes) || (a.atomic && b.atomic))
      return false;
    if (a.threadgroup != b.threadgroup) return a.memory == Memory::device;
    if (a.thread == b.thread || a.period != b.period) return false;
    return a.thread / 32 != b.thread / 32 || a.turn == b.turn;
  }

  std::uint32_t threadgroup_ = 0;
  std::array<std::uint32_t, 2> periods_{};
  std::array<std::uint32_t, simdgroups> turns_{};
  std::array<std::array<bool, elements>, 2> is_written_{};
  std::vector<Access> accesses_;
};

class CheckScreen : public ::testing::Test {
 protected:
  void begin(std::size_t workers = 1) {
    info_ = {};
    info_.arguments.resize(1);
    info_.arguments[0].kind = ArgumentKind::buffer;
    info_.arguments[0].access = metalloid::Access::read_write;
    const Size size{threads, 1, 1};
    WatchedArgument argument;
    argument.address = reinterpret_cast<std::byte*>(device_.data());
    argument.bytes = sizeof(device_);
    argument.is_undefined = is_undefined_;
    arguments_ = {argument};
    grid_ = {{threads * 1000, 1, 1}, {1000, 1, 1}, size};
    const std::array<ScreenedRoot, 3> roots = {
        {{0, 2, 2, 1}, {first_threadgroup_root, 2, 0, 1}, {unknown_root, 4, 0, 0}}};
    screens_.clear();
    while (screens_.size() < workers) {
      screens_.push_back(std::make_unique<Screen>(info_, arguments_, grid_, false, kept_));
      ASSERT_TRUE(screens_.back()->prepare(roots.data()));
    }
    threadgroup_ = 0;
    next_threadgroup(0);
  }
  void end() {
    for (const auto& screen : screens_) screen->end_dispatch();
  }
  void next_threadgroup(std::size_t worker = 0) {
    screen_ = screens_[worker].get();
    screen_->begin_threadgroup(threadgroup_++, std::as_writable_bytes(std::span(local_)));
  }
  template <typename Action>
  bool suspects(Action action) {
    return support::run_guarded([&] { action(); }).crashed();
  }
  const void* address(Memory memory, unsigned element) const {
    return memory == Memory::local ? static_cast<const void*>(&local_[element]) : &device_[element];
  }
  static std::uint32_t root(Memory memory) {
    return memory == Memory::local ? std::uint32_t{first_threadgroup_root} : 0;
  }
  // Of all simdgroups.
  void barrier(std::uint32_t flags) {
    for (const MeetingStep step : {MeetingStep::come_to_threadgroup_barrier, MeetingStep::leave_threadgroup_barrier}) {
      for (std::uint32_t s = 0; s < simdgroups; ++s) screen_->meet(32 * s, ~0u, step, flags, 0, nullptr);
    }
  }

  std::array<float, elements> device_{};
  alignas(16) std::array<float, elements> local_{};
  KernelInfo info_;
  bool is_undefined_ = false;  // device memory
  std::vector<WatchedArgument> arguments_;
  WatchedGrid grid_;
  KeptMemory kept_;  // of all dispatches
  std::vector<std::unique_ptr<Screen>> screens_;
  Screen* screen_ = nullptr;  // of the worker that runs
  std::uint64_t threadgroup_ = 0;
};

TEST_F(CheckScreen, AgreesWithAListOfAllAccesses) {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  int wrong = 0, late = 0, fine = 0;
  for (int round = 0; round < 6000; ++round) {
    const std::uint32_t workers = 1 + below(2);
    is_undefined_ = below(2) != 0;
    begin(workers);
    bool is_fine = true;
    History history(is_undefined_);
    history.begin_threadgroup();
    for (int step = 0; step < 60; ++step) {
      const std::uint32_t what = below(10), simdgroup = below(simdgroups);
      if (what == 0) {
        const bool device = below(2) != 0, local = below(2) != 0;
        barrier((device ? ir::device_memory : 0u) | (local ? ir::threadgroup_memory : 0u));
        history.barrier(device, local);
        continue;
      }
      if (what == 1) {
        screen_->meet(32 * simdgroup, ~0u, MeetingStep::come_to_simdgroup_barrier, ir::threadgroup_memory, 0, nullptr);
        screen_->meet(32 * simdgroup, ~0u, MeetingStep::leave_simdgroup_barrier, ir::threadgroup_memory, 0, nullptr);
        history.simdgroup_barrier(simdgroup);
        continue;
      }
      if (what == 2 && below(5 - workers) == 0) {
        next_threadgroup(below(workers));
        history.begin_threadgroup();
        continue;
      }
      const Memory memory = below(3) == 0 ? Memory::device : Memory::local;
      // Few lanes and few places, so that much is right; the first steps write.
      std::uint32_t lanes = below(3) == 0 ? ~0u : 1u << below(32);
      const bool atomic = below(6) == 0, writes = atomic || step < 6 || below(3) == 0, reads = !writes || atomic;
      const std::uint32_t flags =
          (reads ? access_reads : 0u) | (writes ? access_writes : 0u) | (atomic ? access_atomic : 0u);
      std::array<const void*, 32> addresses{};
      std::array<unsigned, 32> places{};
      const std::uint32_t shape = below(4), start = below(elements - 32 + 1);
      for (unsigned lane = 0; lane < 32; ++lane) {
        places[lane] = shape == 0 ? start : shape == 1 ? start + lane : shape == 2 ? below(elements) : start + lane % 8;
        addresses[lane] = address(memory, places[lane]);
      }
      bool expected = false, is_excused = false;
      History after = history;
      for (unsigned lane = 0; lane < 32; ++lane) {
        if ((lanes >> lane & 1) == 0) continue;
        is_excused |= after.is_excused(memory, places[lane], 32 * simdgroup + lane, atomic);
        expected |= after.add(memory, places[lane], 32 * simdgroup + lane, reads, writes, atomic);
      }
      const bool may_be_late = workers == 2 && memory == Memory::device;
      if (expected && below(may_be_late ? 2 : 64) != 0) continue;  // so that many rounds come far
      history = std::move(after);
      const bool suspected = suspects([&] {
        if (shape == 0) screen_->access_one(32 * simdgroup, lanes, addresses[0], root(memory), 4, flags);
        if (shape == 1) screen_->access_row(32 * simdgroup, lanes, addresses[0], root(memory), 4, flags);
        if (shape == 3) screen_->access_shared_row(32 * simdgroup, lanes, addresses[0], root(memory), 4, flags, 8);
        if (shape == 2) screen_->access_lanes(32 * simdgroup, lanes, addresses.data(), root(memory), 4, flags);
      });
      if (expected && !suspected && workers == 2) {
        EXPECT_FALSE(Screen::agree(screens_)) << "round " << round << ", step " << step;
        ++late;
        is_fine = false;
        break;
      }
      if (expected || !is_excused) {
        ASSERT_EQ(suspected, expected) << "round " << round << ", step " << step << ": " << screen_->reason();
      }
      if (suspected || expected) {
        is_fine = false;
        break;
      }
    }
    if (is_fine) {
      ASSERT_TRUE(Screen::agree(screens_)) << "round " << round;
      end();
    }
    ++(is_fine ? fine : wrong);
  }
  EXPECT_GT(wrong, 500);
  EXPECT_GT(late, 100);
  EXPECT_GT(fine, 500);
}

// Numbers of periods and turns come to their end and begin anew.
TEST_F(CheckScreen, NumbersMayRunOut) {
  begin();
  const auto write = [&](std::uint32_t first, Memory memory) {
    screen_->access_row(first, ~0u, address(memory, 0), root(memory), 4, access_writes);
  };
  const auto read = [&](std::uint32_t first, Memory memory) {
    screen_->access_row(first, ~0u, address(memory, 0), root(memory), 4, access_reads);
  };
  const bool suspected = suspects([&] {
    for (int i = 0; i < 1000; ++i) {
      write(0, Memory::local);
      screen_->meet(0, ~0u, MeetingStep::leave_simdgroup_barrier, ir::threadgroup_memory, 0, nullptr);
      screen_->access_one(0, ~0u, address(Memory::local, 5), root(Memory::local), 4, access_reads);
      screen_->meet(0, ~0u, MeetingStep::leave_simdgroup_barrier, ir::threadgroup_memory, 0, nullptr);
    }
    for (int i = 0; i < 20'000; ++i) {
      barrier(ir::threadgroup_memory);
      write(32 * (i % 3), Memory::local);
      barrier(ir::threadgroup_memory);
      read(32 * ((i + 1) % 3), Memory::local);
    }
  });
  EXPECT_FALSE(suspected) << screen_->reason();
  EXPECT_TRUE(suspects([&] { write(0, Memory::local); }));
}

// Of device memory, in one dispatch and over many that use the same stamps.
TEST_F(CheckScreen, NumbersOfThreadgroupsMayRunOut) {
  const auto use = [&](unsigned element, std::uint32_t flags) {
    screen_->access_row(0, ~0u, address(Memory::device, element), root(Memory::device), 4, flags);
  };
  begin();
  EXPECT_FALSE(suspects([&] {
    use(0, access_writes);
    for (int i = 0; i < 1'100'000; ++i) next_threadgroup();
    use(32, access_writes);
  }));
  EXPECT_TRUE(suspects([&] { use(0, access_reads); }));
  for (int dispatch = 0; dispatch < 300; ++dispatch) {
    begin();
    EXPECT_FALSE(suspects([&] {
      for (int i = 0; i < 10'000; ++i) next_threadgroup();
      use(dispatch % 2, access_writes);
    })) << dispatch;
    end();
  }
}

TEST_F(CheckScreen, WorkersThatUseOneMemoryDoNotAgree) {
  struct Case {
    std::uint32_t one, other;
    bool agree;
  };
  constexpr std::uint32_t change = access_reads | access_writes | access_atomic;
  for (const Case& each :
       {Case{access_reads, access_reads, true}, Case{access_reads, access_writes, false},
        Case{access_writes, access_reads, false}, Case{access_writes, access_writes, false}, Case{change, change, true},
        Case{change, access_reads, false}, Case{access_writes, change, false}}) {
    for (const unsigned distance : {0u, 8u, 32u}) {
      begin(2);
      EXPECT_FALSE(suspects([&] {
        next_threadgroup(0);
        screen_->access_row(0, ~0u, address(Memory::device, 0), root(Memory::device), 4, each.one);
        next_threadgroup(1);
        screen_->access_row(0, ~0u, address(Memory::device, distance), root(Memory::device), 4, each.other);
      }));
      EXPECT_EQ(Screen::agree(screens_), each.agree || distance == 32) << each.one << each.other << distance;
      end();
    }
  }
}

TEST_F(CheckScreen, LanesThatWriteBeyondASimdgroupsBarrierRaceWithOtherSimdgroups) {
  begin();
  for (int i = 0; i < 300; ++i) {
    screen_->meet(0, ~0u, MeetingStep::leave_simdgroup_barrier, ir::threadgroup_memory, 0, nullptr);
  }
  screen_->access_row(0, ~0u, address(Memory::local, 0), root(Memory::local), 4, access_writes);
  for (int i = 0; i < 300; ++i) {
    screen_->meet(0, ~0u, MeetingStep::leave_simdgroup_barrier, ir::threadgroup_memory, 0, nullptr);
  }
  EXPECT_TRUE(
      suspects([&] { screen_->access_row(32, ~0u, address(Memory::local, 0), root(Memory::local), 4, access_reads); }));
}

TEST_F(CheckScreen, LanesThatReadWhatOneChangedAtomicallyAreSuspected) {
  for (const Memory memory : {Memory::device, Memory::local}) {
    begin();
    screen_->access_one(0, 1u << 9, address(memory, 40), root(memory), 4, access_writes | access_atomic);
    EXPECT_TRUE(suspects([&] { screen_->access_one(0, ~0u, address(memory, 40), root(memory), 4, access_reads); }));
  }
}

TEST_F(CheckScreen, WrittenMemoryThatIsBoundTwiceIsNotScreened) {
  info_.arguments.resize(2);
  WatchedArgument argument;
  argument.address = reinterpret_cast<std::byte*>(device_.data());
  argument.bytes = sizeof(device_);
  WatchedArgument overlapping = argument;
  overlapping.bytes = 8;
  const WatchedGrid grid{{32, 1, 1}, {1, 1, 1}, {32, 1, 1}};
  const std::vector<WatchedArgument> arguments = {argument, overlapping};
  Screen screen(info_, arguments, grid, false, kept_);
  const std::array<ScreenedRoot, 2> written = {{{0, 2, 2, 1}, {unknown_root, 4, 0, 0}}};
  EXPECT_FALSE(screen.prepare(written.data()));
  const std::array<ScreenedRoot, 2> read = {{{0, 2, 2, 0}, {unknown_root, 4, 0, 0}}};
  EXPECT_TRUE(screen.prepare(read.data()));
}

}  // namespace check_screen_test
}  // namespace metalloid::checker
