#include "engines/cpu_shared/run/other_cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <thread>

namespace metalloid::engines::cpu {
namespace {

cpu_set_t allowed_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  ::sched_getaffinity(0, sizeof(cores), &cores);
  return cores;
}

struct Outcome {
  bool changed, allowed_the_same;
};

// What a thread does whose helpers do not come, or of which one comes at once.
Outcome work(bool comes) {
  Outcome outcome{};
  std::thread([&] {
    const cpu_set_t before = allowed_cores();
    Help help;
    if (comes) {
      cpu_set_t elsewhere = before;
      CPU_CLR(static_cast<unsigned>(::sched_getcpu()), &elsewhere);
      std::thread([&] {
        ::sched_setaffinity(0, sizeof(elsewhere), &elsewhere);
        help.look();
      }).join();
    }
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(200);
    while (std::chrono::steady_clock::now() < until) {
    }
    const int core = ::sched_getcpu();
    help.look();
    outcome.changed = ::sched_getcpu() != core;
    const cpu_set_t after = allowed_cores();
    outcome.allowed_the_same = CPU_EQUAL(&before, &after);
    help.thank();
  }).join();
  return outcome;
}

int changes(bool comes) {
  int count = 0;
  for (int turn = 0; turn < 20; ++turn) {
    const Outcome outcome = work(comes);
    EXPECT_TRUE(outcome.allowed_the_same);
    count += outcome.changed;
  }
  return count;
}

// The system may move a thread, too, so that neither is certain of one turn.
TEST(OtherCores, AreTakenByTheThreadThatWaitsForHelp) {
  const cpu_set_t cores = allowed_cores();
  if (CPU_COUNT(&cores) < 2) GTEST_SKIP() << "one core";
  EXPECT_GE(changes(false), 10);
}

TEST(OtherCores, AreLeftToHelpersThatCome) {
  const cpu_set_t cores = allowed_cores();
  if (CPU_COUNT(&cores) < 2) GTEST_SKIP() << "one core";
  EXPECT_LE(changes(true), 10);
}

}  // namespace
}  // namespace metalloid::engines::cpu
