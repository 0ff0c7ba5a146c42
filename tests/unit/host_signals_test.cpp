// Kernels crash in hosts that do as they like with signals, and the hosts live on.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <string>

#include "metalloid/metalloid.h"
#include "support/crash_guard.h"
#include "support/files.h"

namespace metalloid {
namespace host_signals_test {

constexpr std::array faults = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

// Nobody knows how much memory an address in memory leads to, so that no bounds hold such a kernel back.
Kernel crash() {
  return Device::cpu()
      .make_library(
          "struct Wild { device uint* address; };"
          "kernel void crash(device Wild* x, uint i [[thread_position_in_grid]]) { x->address[1ul << 40] = i; }")
      .kernel("crash");
}

bool crashes(const Kernel& kernel, std::uint32_t groups = 1) {
  Buffer x(8);
  try {
    run(kernel, Dispatch().buffer(0, x).threadgroups({groups}, {4}));
  } catch (const Error& error) {
    return error.code() == ErrorCode::kernel_crashed;
  }
  return false;
}

// What a child returns, or 256 and its signal.
int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(1000);
    ::_exit(work());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

TEST(HostSignals, MayBeBlocked) {
  const Kernel kernel = crash();
  sigset_t all, before, after;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool one = crashes(kernel), many = crashes(kernel, 64);
  ::pthread_sigmask(SIG_SETMASK, &before, &after);
  EXPECT_TRUE(one && many);
  for (int signal : faults) EXPECT_EQ(sigismember(&after, signal), 1) << "blocked again after " << signal;
  EXPECT_TRUE(crashes(kernel));
}

TEST(HostSignals, MayHaveHandlersThatAreInstalledLater) {
  EXPECT_EQ(in_child([] {
              const Kernel kernel = crash();
              if (!crashes(kernel)) return 1;
              for (int signal : faults) ::signal(signal, [](int) { ::_exit(7); });
              if (!crashes(kernel) || !crashes(kernel, 64)) return 2;
              // Outside of kernels they are the host's.
              ::raise(SIGSEGV);
              return 3;
            }),
            7);
}

TEST(HostSignals, MayHaveNoStack) {
  const Kernel kernel =
      Device::cpu()
          .make_library(
              "int deep(device int* x, int n) { volatile int a[64]; a[n & 63] = n; return n == x[0] ? "
              "0 : deep(x, n + 1) + a[1]; } kernel void fall(device int* x) { x[1] = deep(x, 1); }")
          .kernel("fall");
  Buffer x(8);
  x.as<int>()[0] = -1;
  const Dispatch dispatch = Dispatch().buffer(0, x).threads({1}, {1});
  for (int i = 0; i < 2; ++i) {
    try {
      run(kernel, dispatch);
      FAIL();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("a thread's stack overflowed"));
    }
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    EXPECT_EQ(::sigaltstack(&none, nullptr), 0);
  }
}

TEST(HostSignals, TrapsAreCrashes) {
  const auto outcome = support::run_guarded([] { ::raise(SIGTRAP); });
  EXPECT_TRUE(outcome.crashed());
  EXPECT_EQ(outcome.description(), "SIGTRAP (breakpoint)");
  EXPECT_EQ(support::run_guarded([] { ::raise(SIGSYS); }).signal, SIGSYS);
}

// A limit of file sizes raises SIGXFSZ.
TEST(HostSignals, CachesFailToWriteInSilence) {
  const std::string path = "/tmp/metalloid-limited-" + std::to_string(::getpid());
  EXPECT_EQ(in_child([&] {
              const rlimit limit{100, 100};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              return support::write_file_atomically(path, std::string(1000, 'x')) ? 1 : 0;
            }),
            0);
}

// Overruns of any length end where the variable does; nothing of the process has changed.
TEST(HostSignals, OverrunsLeaveTheHostAsItWas) {
  const Kernel kernel =
      Device::cpu()
          .make_library(
              "kernel void over(device uint* x) { uint a[16]; for (uint i = 0; i < 16; ++i) a[i] = x[i & 1];"
              "  for (uint i = 0; i < x[0]; ++i) a[i] = i * x[1]; x[2] = a[x[3]]; }")
          .kernel("over");
  Buffer x(16);
  int crashed = 0;
  for (std::uint32_t length = 16; length < 5'000'000; length += length / 3) {
    for (std::uint32_t factor : {0u, 1u, 77777u, 0x7fffffffu}) {
      x.as<std::uint32_t>()[0] = length;
      x.as<std::uint32_t>()[1] = factor;
      try {
        run(kernel, Dispatch().buffer(0, x).threads({1}, {1}));
      } catch (const Error& error) {
        ++crashed;
        EXPECT_EQ(error.code(), ErrorCode::out_of_bounds) << error.what();
      }
    }
  }
  EXPECT_GT(crashed, 50);
}

}  // namespace host_signals_test
}  // namespace metalloid
