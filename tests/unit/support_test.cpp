// Hashes, files, values made once and the crash guard.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <thread>
#include <vector>

#include "metalloid/error.h"
#include "support/build_id.h"
#include "support/crash_guard.h"
#include "support/files.h"
#include "support/guarded_mapping.h"
#include "support/hash.h"
#include "support/made_once.h"

namespace metalloid::support {
namespace support_test {

TEST(Error, EveryCodeHasItsName) {
  EXPECT_EQ(name_of(ErrorCode::compile_error), "compile_error");
  EXPECT_EQ(name_of(ErrorCode::kernel_timed_out), "kernel_timed_out");
  EXPECT_EQ(name_of(ErrorCode::internal), "internal");
}

TEST(BuildId, IsTheLinkers) { EXPECT_EQ(build_id().size(), 40u); }

TEST(Hash, TellsWhereOneTextEndsAndTheNextBegins) {
  EXPECT_NE(Hasher().add("ab").add("c").finish(), Hasher().add("a").add("bc").finish());
  EXPECT_EQ(Hasher().add("ab").add(1).finish(), Hasher().add("ab").add(1).finish());
  EXPECT_EQ(hash_of("metal").hex().size(), 32u);
}

TEST(GuardedMapping, WhatLiesAroundItIsNobodys) {
  GuardedMapping mapping;
  mapping.map(1, 1 << 16, 1 << 17);
  *mapping.begin() = *(mapping.end() - 1) = std::byte{1};
  EXPECT_TRUE(mapping.is_below(mapping.begin() - (1 << 16)));
  EXPECT_FALSE(mapping.is_below(mapping.begin() - (1 << 16) - 1));
  EXPECT_TRUE(mapping.is_above(mapping.end() + (1 << 17) - 1));
  EXPECT_FALSE(mapping.is_above(mapping.end() + (1 << 17)));
  const auto outcome = run_guarded([&] { *const_cast<volatile std::byte*>(mapping.end()) = std::byte{1}; });
  EXPECT_EQ(outcome.fault_address, mapping.end());
}

// A static variable of a function would let the child wait for a thread that it does not have.
TEST(MadeOnce, AChildForkedWhileItIsMadeMakesItsOwn) {
  static constinit MadeOnce<int> value;
  std::atomic<bool> is_making{false}, may_end{false};
  std::thread other([&] {
    value.get([&] {
      is_making = true;
      while (!may_end) std::this_thread::yield();
      return 1;
    });
  });
  while (!is_making) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    alarm(1000);
    _exit(value.get([] { return 2; }) == 2 ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(value.if_made(), nullptr);
  may_end = true;
  other.join();
  EXPECT_EQ(value.get([] { return 3; }), 1) << "the first one stays";
}

class Folder : public ::testing::Test {
 protected:
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("metalloid-test-" + std::to_string(getpid()));
  void TearDown() override { std::filesystem::remove_all(folder); }
};

using Files = Folder;

TEST_F(Files, ReadsBackWhatItWrote) {
  ASSERT_TRUE(write_file_atomically(folder / "deep" / "file", "contents"));
  EXPECT_EQ(read_file(folder / "deep" / "file"), "contents");
  ASSERT_TRUE(write_file_atomically(folder / "deep" / "file", ""));
  EXPECT_EQ(read_file(folder / "deep" / "file"), "");
  // No temporary file stays behind.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "deep"), {}), 1);
}

TEST_F(Files, NamesTheFileThatCannotBeRead) {
  try {
    read_file(folder / "missing");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::input_output);
    EXPECT_NE(std::string(error.what()).find("missing"), std::string::npos);
  }
  EXPECT_FALSE(try_read_file("/"));
  EXPECT_FALSE(write_file_atomically("/dev/null/x", "contents"));
}

__attribute__((noinline)) int recurse(int depth) {
  volatile char frame[512];
  frame[0] = static_cast<char>(depth);
  return depth < 0 ? 0 : recurse(depth + 1) + frame[0];
}

TEST(CrashGuard, TurnsFaultsIntoResults) {
  for (int repeat = 0; repeat < 3; ++repeat) {
    auto memory = run_guarded([] { *reinterpret_cast<volatile int*>(16) = 1; });
    EXPECT_TRUE(memory.crashed());
    EXPECT_EQ(memory.signal, SIGSEGV);
    EXPECT_EQ(memory.fault_address, reinterpret_cast<void*>(16));
    EXPECT_NE(memory.instruction, nullptr);
    EXPECT_EQ(memory.description(), "SIGSEGV (invalid memory access at 0x10)");
    EXPECT_EQ(run_guarded([] { *reinterpret_cast<volatile int*>(std::uintptr_t{1} << 62) = 1; }).description(),
              "SIGSEGV (memory access far outside of all memory)");
    EXPECT_EQ(run_guarded([] { std::abort(); }).signal, SIGABRT);
    EXPECT_EQ(run_guarded([] { __builtin_trap(); }).signal, SIGILL);
    EXPECT_EQ(run_guarded([] { std::raise(SIGFPE); }).signal, SIGFPE);
  }
  EXPECT_TRUE(run_guarded([] {}).finished());
}

TEST(CrashGuard, SurvivesStackOverflowOnLargeStacks) {
  EXPECT_TRUE(run_on_large_stack([] { recurse(0); }, 1 << 20).crashed());
  bool deep = false;
  EXPECT_TRUE(run_on_large_stack(
                  [&] {
                    volatile char block[40 << 20];
                    block[0] = 1;
                    deep = block[0] == 1;
                  },
                  64 << 20)
                  .finished());
  EXPECT_TRUE(deep);
}

TEST(CrashGuard, LetsExceptionsPass) {
  EXPECT_THROW(run_guarded([] { throw 1; }), int);
  EXPECT_THROW(run_on_large_stack([] { throw 2; }, 1 << 20), int);
  EXPECT_TRUE(run_guarded([] { std::abort(); }).crashed()) << "the guard still works";
}

TEST(CrashGuard, NestsAndJumpsToTheInnermost) {
  bool inner_crashed = false, went_on = false;
  auto outer = run_guarded([&] {
    inner_crashed = run_guarded([] { std::abort(); }).crashed();
    went_on = true;
    __builtin_trap();
  });
  EXPECT_TRUE(inner_crashed);
  EXPECT_TRUE(went_on);
  EXPECT_EQ(outer.signal, SIGILL);
}

TEST(CrashGuard, StopsEndlessCodeFromOutside) {
  StopToken token;
  std::atomic<bool> inside{false};
  std::thread stopper([&] {
    while (!inside) std::this_thread::yield();
    while (token.threads_inside()) {
      token.request_stop();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  auto outcome = run_guarded(
      [&] {
        inside = true;
        while (true) asm volatile("");
      },
      {.stop = &token});
  stopper.join();
  EXPECT_TRUE(outcome.stopped());
  bool ran = false;
  EXPECT_TRUE(run_guarded([&] { ran = true; }, {.stop = &token}).stopped()) << "the request stands";
  EXPECT_FALSE(ran);
}

// Requests that pile up while a thread cannot react must not overflow the handlers' stack.
TEST(CrashGuard, TakesManyStopRequestsAtOnce) {
  StopToken token;
  auto outcome = run_guarded(
      [&] {
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &before);
        for (int i = 0; i < 500; ++i) token.request_stop();
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        while (true) asm volatile("");
      },
      {.stop = &token});
  EXPECT_TRUE(outcome.stopped());
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) EXPECT_FALSE(sigismember(&blocked, signal)) << signal;
}

TEST(CrashGuard, ComesBackInFrontOfLaterHandlers) {
  run_guarded([] {});
  struct sigaction later = {}, before;
  later.sa_handler = [](int) { _exit(43); };
  sigaction(SIGSEGV, &later, &before);
  claim_signals();
  EXPECT_TRUE(run_guarded([] { *reinterpret_cast<volatile int*>(16) = 1; }).crashed());
  sigaction(SIGSEGV, &before, nullptr);
  EXPECT_TRUE(run_guarded([] { *reinterpret_cast<volatile int*>(16) = 1; }).crashed());
}

// All signals are looked at again after a while; stops, when one is asked for.
TEST(CrashGuard, ComesBackInFrontOfHandlersOfOtherSignals) {
  run_guarded([] {});
  struct sigaction later = {}, before;
  later.sa_handler = [](int) { _exit(43); };
  sigaction(SIGFPE, &later, &before);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(run_guarded([] { ::raise(SIGFPE); }).crashed());
  sigaction(SIGFPE, &before, nullptr);

  StopToken token;
  std::atomic<bool> changed{false};
  std::thread thread([&] {
    while (!changed) std::this_thread::yield();
    while (token.threads_inside()) {
      token.request_stop();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  const GuardOutcome outcome = run_guarded(
      [&] {
        for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) sigaction(signal, &later, nullptr);
        changed = true;
        while (true) asm volatile("");
      },
      {.stop = &token});
  thread.join();
  EXPECT_TRUE(outcome.stopped());
  later.sa_handler = SIG_DFL;
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) sigaction(signal, &later, nullptr);
}

TEST(CrashGuardDeathTest, LeavesCrashesElsewhereToTheProcess) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  run_guarded([] {});
  EXPECT_EXIT(
      {
        run_guarded([] {});
        *reinterpret_cast<volatile int*>(16) = 1;
      },
      [](int status) { return status != 0; }, "");
  EXPECT_EXIT(
      {
        struct sigaction action = {};
        action.sa_handler = [](int) { _exit(42); };
        sigaction(SIGSEGV, &action, nullptr);
        run_guarded([] {});
        *reinterpret_cast<volatile int*>(16) = 1;
      },
      ::testing::ExitedWithCode(42), "");
}

}  // namespace support_test
}  // namespace metalloid::support
