#include "engines/cpu_shared/run/launch.h"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>

#include "checker/run/screened_dispatch.h"
#include "checker/run/watch.h"
#include "engines/cpu_shared/code/loader.h"
#include "engines/cpu_shared/run/cache_sizes.h"
#include "engines/cpu_shared/run/other_cores.h"
#include "engines/cpu_shared/run/threadgroup_queue.h"
#include "engines/cpu_shared/run/worker.h"
#include "engines/dispatch_log.h"
#include "metalloid/error.h"
#include "support/crash_guard.h"
#include "support/function_ref.h"
#include "support/made_once.h"
#include "support/readable.h"
#include "support/sanitizer.h"
#include "support/watchdog.h"

namespace metalloid::engines::cpu {
namespace {

using Clock = std::chrono::steady_clock;

std::uint64_t nanoseconds(Clock::duration time) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(time).count());
}

// Bytes for the variables of all threads that one core keeps alive at a time.
constexpr std::uint64_t most_private_memory = std::uint64_t{1} << 30;

// Threadgroups that code runs behind one: between them nobody sees that another has failed.
constexpr std::uint32_t most_behind = 15;

// Threads for which another compile pays: about 0.1 s, where each is faster by some 20 ns at least.
constexpr std::uint64_t many_in_thin_groups = 1 << 16;

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

// Sizes of buffers above which they are written past the caches.
struct StreamingBytes {
  std::size_t all, far;  // ThreadgroupState::streams, far_streams

  // Beyond half of a core's part of the largest cache, what was written is gone when the next kernel comes to read it:
  // kernels that copy to and fro have break-even there.
  static const StreamingBytes& here() {
    static constinit support::MadeOnce<StreamingBytes> bytes;
    return bytes.get([] {
      return StreamingBytes{std::max(part_of_last_cache() / 2, std::size_t{8} << 20),
                            std::max(second_cache(), std::size_t{1} << 20)};
    });
  }
};

// What was written past the caches comes before whatever this thread writes next.
void order_streams() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
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

// What watches a dispatch of a kernel that was compiled with checks: one of them at most.
struct Observer {
  checker::Watch* watch = nullptr;
  checker::ScreenedDispatch* screen = nullptr;
};

class CpuExecutable : public CheckedExecutable {
 public:
  CpuExecutable(std::span<const char> object, const KernelInfo& info, const Runtime& runtime)
      : runtime_(runtime), code_(object, runtime.symbol), info_(info) {
    const void* facts = code_.find(facts_name);
    if (facts) std::memcpy(&facts_, facts, sizeof(facts_));
    entry_ = code_.find(facts_.threads_meet ? run_thread_name : run_threadgroup_name);
    engine_facts_ = code_.find(engine_facts_name);
    if (!facts || !entry_) {
      throw Error(ErrorCode::internal, fmt::format("the code of kernel '{}' is incomplete", info.name));
    }
  }

  bool takes(const DispatchPlan& plan) const override {
    const Size &group = plan.threads_per_threadgroup, &grid = plan.threads_per_grid;
    const bool is_slow = group.volume() == 1 ? facts_.slow_alone : group.x == 1 && facts_.slow_columns;
    if (is_slow && grid.volume() >= many_in_thin_groups) return false;
    const std::uint32_t row = facts_.row, half = row / 2;
    return row == 0 || (group.x % row == 0 && grid.x % row == 0) ||
           (facts_.half_rows && group.x == half && grid.x % half == 0 && group.y % 2 == 0 && grid.y % 2 == 0);
  }
  // As many as have room for their variables at the same time, and those that run in step at least.
  std::uint32_t max_threads_per_threadgroup() const override {
    if (!facts_.threads_meet || facts_.private_memory == 0) return ~std::uint32_t{0};
    const std::uint64_t programs = std::max<std::uint64_t>(most_private_memory / facts_.private_memory, 1);
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>(programs * facts_.threads_per_program, ~std::uint32_t{0}));
  }

  void run(const DispatchPlan& plan) const override { run(plan, Observer{}); }
  void run(const DispatchPlan& plan, checker::Watch& watch) const override { run(plan, Observer{.watch = &watch}); }
  void run(const DispatchPlan& plan, checker::ScreenedDispatch& screen) const override {
    run(plan, Observer{.screen = &screen});
  }

 private:
  void run(const DispatchPlan& plan, const Observer& observer) const {
    check_private_memory(plan);
    const std::uint64_t count = plan.threadgroups_per_grid.volume();
    // What reports are made of runs in one order, so that they are alike.
    const bool alone = count == 1 || observer.watch || !may_use_other_cores();
    int workers = alone ? 1 : tbb::this_task_arena::max_concurrency();
    if (observer.watch) {
      observer.watch->set_roots(static_cast<const checker::NamedRoot*>(code_.find(checker::roots_name)));
    }
    if (observer.screen) {
      const auto* roots = static_cast<const checker::ScreenedRoot*>(code_.find(checker::screened_name));
      const auto for_each = [&](std::size_t count, support::function_ref<void(std::size_t)> run_one) {
        if (alone || count == 1) {
          for (std::size_t i = 0; i < count; ++i) run_one(i);
        } else {
          tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) { run_one(i); }, tbb::simple_partitioner());
        }
      };
      workers = roots ? static_cast<int>(observer.screen->prepare(roots, static_cast<unsigned>(workers), for_each)) : 0;
      if (workers == 0) throw Error(ErrorCode::unsupported, "not to be screened");
    }
    RunningDispatch running(*this, plan, observer, static_cast<unsigned>(workers));
    support::WatchdogTimer timer(running.stop, plan.timeout);
    if (count > 1) running.begin_occasion();
    if (workers == 1) {
      running.run_share(0);
    } else {
      // Other cores need longer than that to wake up.
      constexpr Clock::duration little = std::chrono::microseconds(40);
      if (nanoseconds_per_threadgroup_.load(std::memory_order_relaxed) < nanoseconds(little) / count) {
        running.run_share(0, count / 16 + 1, Clock::now() + little);
      }
      if (!running.is_over()) {
        running.help.emplace();
        support::publish(&running);
        tbb::parallel_for(
            0, workers,
            [&](int) METALLOID_BEFORE_OBSERVE {
              support::observe(&running);
              // A thread's place in the arena stays, and the caller's is the first.
              running.run_share(static_cast<unsigned>(std::max(tbb::this_task_arena::current_thread_index(), 0)));
              support::publish(&running);
            },
            tbb::simple_partitioner());
        support::observe(&running);
        running.help->thank();
      }
      if (!running.failed) nanoseconds_per_threadgroup_.store(running.busy / count, std::memory_order_relaxed);
    }
    running.messages.deliver(info_.name, plan.threads_per_grid, plan.threads_per_threadgroup);
    running.throw_failure(timer);
  }

  // How many threads, or simdgroups in step, have their variables at the same time on one core.
  std::uint32_t programs_alive(const DispatchPlan& plan) const {
    if (!facts_.threads_meet) return 1;
    const auto threads = static_cast<std::uint32_t>(plan.threads_per_threadgroup.volume());
    return (threads + facts_.threads_per_program - 1) / facts_.threads_per_program;
  }

  void check_private_memory(const DispatchPlan& plan) const {
    const std::uint64_t bytes = std::uint64_t{facts_.private_memory} * programs_alive(plan);
    if (bytes <= most_private_memory) return;
    const std::uint32_t threads = programs_alive(plan) * facts_.threads_per_program;
    const std::string whose = threads == 1 ? std::string("a thread") : fmt::format("{} threads that meet", threads);
    throw Error(ErrorCode::limit_exceeded,
                fmt::format("kernel '{}' has too many variables: {} bytes for {}, and at most {} are available",
                            info_.name, bytes, whose, most_private_memory));
  }

  // One dispatch while it runs.
  struct RunningDispatch {
    const CpuExecutable& kernel;
    const DispatchPlan& plan;
    const Observer observer;
    ThreadgroupQueue queue;
    std::optional<Help> help;
    std::atomic<std::uint64_t> busy{0};  // nanoseconds of all workers
    std::size_t threadgroup_bytes = 0;
    std::uint32_t threadgroups_in_row;
    bool runs_several;
    support::StopToken stop;
    std::uint64_t occasion = 0;
    DispatchLog messages;
    std::atomic<bool> failed{false};
    std::mutex mutex;
    support::GuardOutcome failure;  // the first one
    Size failed_threadgroup;
    std::string at, what, where;  // of a crash
    std::string outside;          // of an access outside of its memory: the message
    bool is_wrapped_row = false;  // the access is one that the engine cannot carry out

    RunningDispatch(const CpuExecutable& kernel, const DispatchPlan& plan, const Observer& observer, unsigned workers)
        : kernel(kernel),
          plan(plan),
          observer(observer),
          queue(plan.threadgroups_per_grid.volume(), workers, /*in_order=*/kernel.facts_.logs != 0) {
      threadgroups_in_row = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(plan.threadgroups_per_grid.volume() / workers, plan.threadgroups_per_grid.x));
      runs_several = kernel.facts_.runs_several && !kernel.facts_.logs && !observer.watch && !observer.screen;
      threadgroup_bytes = round_up(kernel.facts_.static_threadgroup_memory, 16);
      for (const BoundArgument& argument : plan.arguments) {
        threadgroup_bytes += round_up(argument.threadgroup_bytes, 16);
      }
      if (threadgroup_bytes != 0) runs_several = false;  // each finds it as it begins
    }

    bool is_over() const { return queue.empty() || failed.load(std::memory_order_relaxed); }

    // For several threadgroups, in several threads.
    void begin_occasion() {
      static std::atomic<std::uint64_t> last{0};
      support::claim_signals();
      occasion = ++last;
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
      worker.argument_list.clear();
      worker.argument_sizes.clear();
      worker.out_of_bounds = {};
      const StreamingBytes& streaming = StreamingBytes::here();
      worker.streams = worker.far_streams = 0;
      std::size_t offset = round_up(kernel.facts_.static_threadgroup_memory, 16);
      for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
        const BoundArgument& argument = plan.arguments[i];
        const void* address = argument.memory.address();
        // What lies in front of an argument may be another's memory, whose accesses are not screened together with it.
        std::uint64_t bytes = argument.memory.size - argument.memory.offset,
                      front = observer.screen ? 0 : argument.memory.offset;
        if (!argument.descriptor.empty()) address = argument.descriptor.data();
        if (kernel.info_.arguments[i].kind == ArgumentKind::threadgroup_memory) {
          address = worker.threadgroup_memory + offset;
          offset += round_up(argument.threadgroup_bytes, 16);
          bytes = argument.threadgroup_bytes;
          front = 0;
        }
        worker.argument_list.push_back(const_cast<void*>(address));
        worker.argument_sizes.insert(worker.argument_sizes.end(), {bytes, front});
        if (i < most_streams) {
          worker.streams |= std::uint64_t{bytes >= streaming.all} << i;
          worker.far_streams |= std::uint64_t{bytes >= streaming.far} << i;
        }
      }
      worker.arguments = worker.argument_list.data();
      worker.argument_bytes = worker.argument_sizes.data();
      auto copy = [](std::uint32_t (&to)[3], const Size& from) {
        to[0] = from.x;
        to[1] = from.y;
        to[2] = from.z;
      };
      copy(worker.threads_per_grid, plan.threads_per_grid);
      copy(worker.threadgroups_per_grid, plan.threadgroups_per_grid);
      copy(worker.dispatch_threads_per_threadgroup, plan.threads_per_threadgroup);
      worker.threadgroups_in_row = threadgroups_in_row;
      worker.threadgroups_behind = 0;
      worker.watch = observer.watch;
      worker.stack.prepare();
      if (kernel.facts_.logs) worker.log.prepare();
      worker.variables.reserve(kernel.programs_alive(plan), kernel.facts_.private_memory);
      worker.private_memory = worker.variables.of(0);
      if (kernel.facts_.threads_meet) {
        const auto threads = static_cast<std::uint32_t>(plan.threads_per_threadgroup.volume());
        worker.runner->prepare(threads, kernel.engine_facts_, worker.variables, worker.stack);
      }
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
      if (observer.watch) {
        observer.watch->begin_threadgroup(index, {worker.threadgroup_memory, threadgroup_bytes}, worker.arguments);
      }
      if (worker.screen) worker.screen->begin_threadgroup(index, {worker.threadgroup_memory, threadgroup_bytes});
    }

    // How many of so many that follow the code runs without coming back: whole ones of the same row.
    std::uint32_t take_behind(Worker& worker, std::uint64_t following) const {
      const std::uint32_t whole = worker.threads_per_grid[0] / worker.dispatch_threads_per_threadgroup[0];
      const std::uint32_t x = worker.threadgroup_position_in_grid[0];
      const std::uint32_t in_row = x < whole ? whole - 1 - x : 0;
      worker.threadgroups_behind =
          static_cast<std::uint32_t>(std::min<std::uint64_t>({following, in_row, most_behind}));
      return worker.threadgroups_behind;
    }

    // The threadgroups that one worker runs.
    struct Share {
      RunningDispatch& running;
      Worker& worker;
      unsigned number;     // of the worker
      std::uint64_t most;  // threadgroups in a piece
      Clock::time_point until;
      ThreadgroupQueue::Piece piece{};

      bool enter_next() {
        if (running.failed.load(std::memory_order_relaxed)) return false;
        if (piece.empty()) {
          if (until != Clock::time_point::max() && Clock::now() > until) return false;
          if (running.help) running.help->look();
          piece = running.queue.take(number, most);
          if (piece.empty()) return false;
        }
        worker.log.begin_threadgroup(piece.begin);
        const std::uint64_t index = piece.begin++;
        running.enter_threadgroup(worker,
                                  running.observer.watch ? running.observer.watch->threadgroup_at(index) : index);
        if (running.runs_several) piece.begin += running.take_behind(worker, piece.end - piece.begin);
        return true;
      }
    };

    // On the kernel's stack, where nothing is kept across the kernel's call (kernel_stack.h).
    static void** run_on_stack() {
      while (true) {
        auto& share = *static_cast<Share*>(KernelStack::current_owner());
        if (!share.enter_next()) return KernelStack::way_back();
        reinterpret_cast<RunThreadgroup>(share.running.kernel.entry_)(&share.worker);
      }
    }

    // The part that may crash or be stopped: holds no locks, owns nothing.
    void run_guarded(Share& share) const {
      if (kernel.facts_.threads_meet) {
        while (share.enter_next()) share.worker.runner->run(kernel.entry_, share.worker);
      } else {
        share.worker.stack.run(run_on_stack, &share);
      }
    }

    // Until no threadgroups are left, or until that time if their number is above what one piece has.
    void run_share(unsigned number, std::uint64_t most = ~std::uint64_t{0},
                   Clock::time_point until = Clock::time_point::max()) {
      if (is_over()) return;
      WorkerLease worker(kernel.runtime_.workers);
      prepare(*worker);
      worker->screen = observer.screen ? &observer.screen->take() : nullptr;
      FloatingPointState floating_point;
      Share share{*this, *worker, number, most, until};
      const Clock::time_point start = occasion ? Clock::now() : Clock::time_point();
      support::GuardOutcome outcome =
          support::run_guarded([&] { run_guarded(share); }, {.stop = &stop, .occasion = occasion});
      order_streams();
      if (worker->screen) observer.screen->give_back(*worker->screen);
      if (occasion) busy += nanoseconds(Clock::now() - start);
      if (kernel.facts_.logs) {
        std::lock_guard lock(mutex);
        std::uint64_t lost = 0;
        std::vector<LogLine> lines = worker->log.take(lost);
        messages.add(std::move(lines), lost);
      }
      if (outcome.finished()) return;
      // While the abandoned stack is as the crash left it.
      const std::optional<std::string> line = line_of(outcome, *worker);
      if (kernel.facts_.threads_meet) worker->runner->reset();
      worker->stack.reset();
      std::lock_guard lock(mutex);
      if (failed.exchange(true)) return;
      failure = outcome;
      const std::uint32_t* at = worker->threadgroup_position_in_grid;
      failed_threadgroup = {at[0], at[1], at[2]};
      if (worker->out_of_bounds.is_set) {
        outside = describe(worker->out_of_bounds, kernel.info_,
                           {worker->threadgroup_position_in_grid, worker->dispatch_threads_per_threadgroup,
                            worker->threads_per_threadgroup});
        is_wrapped_row = worker->out_of_bounds.is_wrapped_row;
      } else if (outcome.crashed()) {
        describe_crash(*worker, line);
      }
      if (outcome.stopped()) this->at = line.value_or("");
    }

    // The kernel's line, also where it has called a function of the host (memcpy), by the address that one returns to.
    std::optional<std::string> line_of(const support::GuardOutcome& outcome, const Worker& worker) const {
      const LoadedCode& code = kernel.code_;
      if (code.contains(outcome.instruction)) return code.source_line(outcome.instruction);
      auto line_before = [&](const void* address) -> std::optional<std::string> {
        if (!code.contains(address)) return std::nullopt;
        return code.source_line(static_cast<const std::byte*>(address) - 1);
      };
      if (auto line = line_before(outcome.return_address)) return line;
      const std::byte* end = worker.stack.end_above(outcome.stack_pointer);
      if (!end && kernel.facts_.threads_meet) end = worker.runner->end_of_stack(outcome.stack_pointer);
      if (!end) return std::nullopt;
      constexpr std::size_t most_words = 4096;
      const auto* word = static_cast<const void* const*>(support::first_readable(outcome.stack_pointer, end));
      const auto* last = std::min(word + most_words, reinterpret_cast<const void* const*>(end));
      for (; word < last; ++word) {
        if (auto line = line_before(*word)) return line;
      }
      return std::nullopt;
    }

    void describe_crash(const Worker& worker, const std::optional<std::string>& line) {
      where =
          fmt::format("in threadgroup ({}, {}, {})", failed_threadgroup.x, failed_threadgroup.y, failed_threadgroup.z);
      const std::uint32_t* group = worker.threads_per_threadgroup;
      // Threads that never meet run in loops of the generated code: which one it was is known if there is one only.
      if (kernel.facts_.threads_meet || group[0] * group[1] * group[2] == 1) {
        const auto position = [&](std::uint32_t thread) {
          return fmt::format("({}, {}, {})", thread % group[0], thread / group[0] % group[1],
                             thread / group[0] / group[1]);
        };
        const std::uint32_t first = kernel.facts_.threads_meet ? worker.runner->thread() : 0;
        const std::uint32_t behind =
            std::min(first + kernel.facts_.threads_per_program, group[0] * group[1] * group[2]);
        where += behind - first == 1
                     ? ", thread " + position(first)
                     : fmt::format(", one of the threads {} to {}", position(first), position(behind - 1));
      }
      at = line ? " at " + *line
                : fmt::format(" (declared at {}:{})", kernel.info_.source_file, kernel.info_.source_line);
      const void* address = failure.fault_address;
      const ThreadRunner* runner = kernel.facts_.threads_meet ? worker.runner.get() : nullptr;
      if (address && (worker.stack.is_above(address) || worker.variables.is_guard(address) ||
                      (runner && runner->is_outside_variables(address)))) {
        what = "a thread reached outside of its own variables";
      } else if (failure.stack_overflow || (address && runner && runner->is_outside_stack(address))) {
        what = "a thread's stack overflowed";
      } else if (address && worker.stack.is_below(address)) {
        what = "a thread reached outside of its own variables";
      } else {
        what = failure.description();
      }
    }

    void throw_failure(const support::WatchdogTimer& timer) const {
      if (!failed.load()) return;
      if (!outside.empty()) throw Error(is_wrapped_row ? ErrorCode::unsupported : ErrorCode::out_of_bounds, outside);
      if (failure.stopped() && timer.interrupted()) {
        throw Error(ErrorCode::kernel_interrupted, fmt::format("kernel '{}' was interrupted", kernel.info_.name));
      }
      if (failure.stopped() && observer.watch) observer.watch->time_out(at);
      if (failure.stopped()) {
        throw Error(ErrorCode::kernel_timed_out,
                    fmt::format("kernel '{}' was stopped because it ran longer than its timeout of {} s",
                                kernel.info_.name, static_cast<double>(plan.timeout.count()) / 1000));
      }
      throw Error(ErrorCode::kernel_crashed,
                  fmt::format("kernel '{}' crashed{}: {}, {}", kernel.info_.name, at, what, where));
    }
  };

  const Runtime& runtime_;
  LoadedCode code_;
  KernelInfo info_;
  KernelFacts facts_{};
  void* entry_ = nullptr;
  const void* engine_facts_ = nullptr;
  mutable std::atomic<std::uint64_t> nanoseconds_per_threadgroup_{~std::uint64_t{0}};  // last time
};

}  // namespace

std::unique_ptr<CheckedExecutable> load_executable(std::span<const char> object, const KernelInfo& info,
                                                   const Runtime& runtime) {
  support::claim_signals();
  return std::make_unique<CpuExecutable>(object, info, runtime);
}

}  // namespace metalloid::engines::cpu
