#include "engines/cpu_shared/run/other_cores.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>

namespace metalloid::engines::cpu {
namespace {

using namespace std::chrono_literals;

// Longer than a worker needs to wake up on an idle core.
constexpr auto patience = 60us;
// Between two changes of the core, if nobody comes however often it changes: other processes have the cores.
constexpr auto least_pause = 1ms, most_pause = 1000ms;

std::atomic<bool> other_cores_used{false}, other_cores_lost{false};

// Not in a forked child of a process that has done so: there oneTBB has no threads, and its locks may be held for ever.
const bool forks_watched = ::pthread_atfork(nullptr, nullptr, [] { other_cores_lost = other_cores_used.load(); }) == 0;

thread_local std::chrono::milliseconds pause = least_pause;
thread_local std::chrono::steady_clock::time_point next_change;

void leave_core() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_change) return;
  next_change = now + pause;
  pause = std::min(pause * 2, std::chrono::milliseconds(most_pause));
  cpu_set_t allowed, others;
  if (::sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  others = allowed;
  const int here = ::sched_getcpu();
  if (here < 0 || here >= CPU_SETSIZE) return;
  CPU_CLR(static_cast<unsigned>(here), &others);
  if (CPU_COUNT(&others) == 0) return;
  if (::sched_setaffinity(0, sizeof(others), &others) == 0) ::sched_setaffinity(0, sizeof(allowed), &allowed);
}

}  // namespace

bool may_use_other_cores() {
  if (!forks_watched || other_cores_lost.load(std::memory_order_relaxed)) return false;
  if (!other_cores_used.load(std::memory_order_relaxed)) other_cores_used = true;
  return true;
}

void Help::look() {
  const int here = ::sched_getcpu();
  if (std::this_thread::get_id() != asked_by_) {
    if (here == core_.load(std::memory_order_relaxed)) leave_core();
    if (!came_.load(std::memory_order_relaxed)) came_.store(true, std::memory_order_relaxed);
    return;
  }
  core_.store(here, std::memory_order_relaxed);
  if (has_looked_ || came_.load(std::memory_order_relaxed) || Clock::now() - asked_ < patience) return;
  has_looked_ = true;
  leave_core();
}

void Help::thank() const {
  if (came_.load(std::memory_order_relaxed)) pause = least_pause;
}

}  // namespace metalloid::engines::cpu
