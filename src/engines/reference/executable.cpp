#include "engines/reference/executable.h"

#include <fmt/format.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <pthread.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>

#include "engines/host/loader.h"
#include "engines/host/watchdog.h"
#include "engines/reference/worker.h"
#include "metalloid/error.h"
#include "support/crash_guard.h"

namespace metalloid::engines::reference {
namespace {

// Bytes for the variables of all threads that one core keeps alive at a time.
constexpr std::uint64_t most_private_memory = std::uint64_t{1} << 30;

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

std::atomic<bool> other_cores_lost{false};

// Not in a forked child of a process that has done so: there oneTBB has no threads, and its locks may be held for ever.
bool may_use_other_cores() {
  static const bool watched = ::pthread_atfork(nullptr, nullptr, [] { other_cores_lost = true; }) == 0;
  return watched && !other_cores_lost.load(std::memory_order_relaxed);
}

// Kernels start with Metal's floating-point state (round to nearest, denormals kept), whatever the host chose.
class FloatingPointState {
 public:
#if defined(__x86_64__)
  FloatingPointState() : saved_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~FloatingPointState() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
#endif
};

class ReferenceExecutable : public Executable {
 public:
  ReferenceExecutable(std::span<const char> object, const KernelInfo& info)
      : code_(object, runtime_symbol), info_(info) {
    const void* facts = code_.find(facts_name);
    if (!facts) throw Error(ErrorCode::internal, fmt::format("the code of kernel '{}' is incomplete", info.name));
    std::memcpy(&facts_, facts, sizeof(facts_));
    void* entry = code_.find(facts_.threads_meet ? run_thread_name : run_threadgroup_name);
    if (!entry) throw Error(ErrorCode::internal, fmt::format("the code of kernel '{}' is incomplete", info.name));
    if (facts_.threads_meet) {
      run_thread_ = reinterpret_cast<RunThread>(entry);
    } else {
      run_threadgroup_ = reinterpret_cast<RunThreadgroup>(entry);
    }
  }

  void run(const DispatchPlan& plan) const override {
    check_private_memory(plan);
    Launch launch(*this, plan);
    host::Watch watch(launch.stop, plan.timeout);
    std::uint64_t count = plan.threadgroups_per_grid.volume();
    if (count == 1 || !may_use_other_cores()) {
      launch.run_range(0, count);
    } else {
      tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, count),
                        [&](const auto& range) { launch.run_range(range.begin(), range.end()); });
    }
    launch.throw_failure(watch);
  }

 private:
  // How many threads have their variables at the same time on one core.
  std::uint32_t threads_alive(const DispatchPlan& plan) const {
    return facts_.threads_meet ? static_cast<std::uint32_t>(plan.threads_per_threadgroup.volume()) : 1;
  }

  void check_private_memory(const DispatchPlan& plan) const {
    const std::uint64_t bytes = std::uint64_t{facts_.private_memory} * threads_alive(plan);
    if (bytes <= most_private_memory) return;
    const std::string whose =
        threads_alive(plan) == 1 ? std::string("a thread") : fmt::format("{} threads that meet", threads_alive(plan));
    throw Error(ErrorCode::limit_exceeded,
                fmt::format("kernel '{}' has too many variables: {} bytes for {}, and at most {} are available",
                            info_.name, bytes, whose, most_private_memory));
  }

  // One dispatch while it runs.
  struct Launch {
    const ReferenceExecutable& kernel;
    const DispatchPlan& plan;
    std::size_t threadgroup_bytes = 0;
    support::StopToken stop;
    std::atomic<bool> failed{false};
    std::mutex mutex;
    support::GuardOutcome failure;  // the first one
    Size failed_threadgroup;
    std::string what;  // of a crash

    Launch(const ReferenceExecutable& kernel, const DispatchPlan& plan) : kernel(kernel), plan(plan) {
      threadgroup_bytes = round_up(kernel.facts_.static_threadgroup_memory, 16);
      for (std::size_t length : plan.threadgroup_lengths) threadgroup_bytes += round_up(length, 16);
    }

    Size position_of(std::uint64_t index) const {
      const Size& groups = plan.threadgroups_per_grid;
      Size position;
      position.x = static_cast<std::uint32_t>(index % groups.x);
      position.y = static_cast<std::uint32_t>(index / groups.x % groups.y);
      position.z = static_cast<std::uint32_t>(index / groups.x / groups.y);
      return position;
    }

    void prepare(Worker& worker) const {
      worker.threadgroup_memory = worker.memory.block(threadgroup_bytes);
      worker.argument_list = plan.buffers;
      std::size_t offset = round_up(kernel.facts_.static_threadgroup_memory, 16);
      for (std::size_t i = 0; i < kernel.info_.arguments.size(); ++i) {
        if (kernel.info_.arguments[i].kind != ArgumentKind::threadgroup_memory) continue;
        worker.argument_list[i] = worker.threadgroup_memory + offset;
        offset += round_up(plan.threadgroup_lengths[i], 16);
      }
      worker.arguments = worker.argument_list.data();
      auto copy = [](std::uint32_t (&to)[3], const Size& from) {
        to[0] = from.x;
        to[1] = from.y;
        to[2] = from.z;
      };
      copy(worker.threads_per_grid, plan.threads_per_grid);
      copy(worker.threadgroups_per_grid, plan.threadgroups_per_grid);
      copy(worker.dispatch_threads_per_threadgroup, plan.threads_per_threadgroup);
      worker.stack.prepare();
      worker.runner.prepare(kernel.threads_alive(plan), kernel.facts_, worker.stack);
      worker.private_memory = worker.runner.private_memory(0);
    }

    void enter_threadgroup(Worker& worker, std::uint64_t index) const {
      Size position = position_of(index);
      const std::uint32_t at[3] = {position.x, position.y, position.z};
      for (int d = 0; d < 3; ++d) {
        std::uint32_t nominal = worker.dispatch_threads_per_threadgroup[d];
        std::uint32_t left = worker.threads_per_grid[d] - at[d] * nominal;
        worker.threadgroup_position_in_grid[d] = at[d];
        worker.threads_per_threadgroup[d] = std::min(nominal, left);
      }
      poison_threadgroup_memory(worker.threadgroup_memory, threadgroup_bytes);
    }

    // The threadgroups that one worker runs in a row.
    struct Range {
      const Launch& launch;
      Worker& worker;
      std::uint64_t next, end;

      bool enter_next() {
        if (next == end || launch.failed.load(std::memory_order_relaxed)) return false;
        launch.enter_threadgroup(worker, next++);
        return true;
      }
    };

    // On the kernel's stack, where nothing is kept across the kernel's call (kernel_stack.h).
    static void** run_on_stack() {
      while (true) {
        auto& range = *static_cast<Range*>(KernelStack::current_owner());
        if (!range.enter_next()) return KernelStack::way_back();
        range.launch.kernel.run_threadgroup_(&range.worker);
      }
    }

    // The part that may crash or be stopped: holds no locks, owns nothing.
    void run_guarded(Range& range) const {
      if (kernel.facts_.threads_meet) {
        while (range.enter_next()) range.worker.runner.run(kernel.run_thread_, range.worker);
      } else {
        range.worker.stack.run(run_on_stack, &range);
      }
    }

    void run_range(std::uint64_t begin, std::uint64_t end) {
      if (failed.load(std::memory_order_relaxed)) return;
      WorkerLease worker;
      prepare(*worker);
      FloatingPointState floating_point;
      Range range{*this, *worker, begin, end};
      support::GuardOutcome outcome = support::run_guarded([&] { run_guarded(range); }, {.stop = &stop});
      if (outcome.finished()) return;
      worker->runner.reset();
      worker->stack.reset();
      std::lock_guard lock(mutex);
      if (failed.exchange(true)) return;
      failure = outcome;
      const std::uint32_t* at = worker->threadgroup_position_in_grid;
      failed_threadgroup = {at[0], at[1], at[2]};
      if (outcome.crashed()) describe_crash(*worker);
    }

    void describe_crash(const Worker& worker) {
      const void* address = failure.fault_address;
      if (address && (worker.stack.is_above(address) || worker.runner.is_outside_variables(address))) {
        what = "a thread reached outside of its own variables";
      } else if (failure.stack_overflow || (address && worker.runner.is_outside_stack(address))) {
        what = "a thread's stack overflowed";
      } else if (address && worker.stack.is_below(address)) {
        what = "a thread reached outside of its own variables";
      } else {
        what = failure.description();
      }
    }

    void throw_failure(const host::Watch& watch) const {
      if (!failed.load()) return;
      if (failure.stopped() && watch.interrupted()) {
        throw Error(ErrorCode::kernel_interrupted, fmt::format("kernel '{}' was interrupted", kernel.info_.name));
      }
      if (failure.stopped()) {
        throw Error(ErrorCode::kernel_timed_out,
                    fmt::format("kernel '{}' was stopped because it ran longer than its timeout of {} s",
                                kernel.info_.name, static_cast<double>(plan.timeout.count()) / 1000));
      }
      auto line = kernel.code_.source_line(failure.instruction);
      throw Error(ErrorCode::kernel_crashed,
                  fmt::format("kernel '{}' crashed{}: {}, in threadgroup ({}, {}, {})", kernel.info_.name,
                              line ? " at " + *line : "", what, failed_threadgroup.x, failed_threadgroup.y,
                              failed_threadgroup.z));
    }
  };

  host::LoadedCode code_;
  KernelInfo info_;
  KernelFacts facts_;
  RunThread run_thread_ = nullptr;
  RunThreadgroup run_threadgroup_ = nullptr;
};

}  // namespace

std::unique_ptr<Executable> load_executable(std::span<const char> object, const KernelInfo& info) {
  support::claim_signals();
  return std::make_unique<ReferenceExecutable>(object, info);
}

}  // namespace metalloid::engines::reference
