#include "engines/cpu_shared/run/worker.h"

#include <cstdint>
#include <mutex>
#include <string_view>

#include "checker/run/watch.h"
#include "support/crash_guard.h"

namespace metalloid::engines::cpu {
namespace {

thread_local Worker* current_worker = nullptr;

ThreadgroupState* current() { return current_worker; }

std::uint32_t current_thread(ThreadgroupState* state) { return static_cast<Worker*>(state)->runner->thread(); }

void log(ThreadgroupState* state, std::uint32_t thread, std::uint32_t level, const char* where, const char* subsystem,
         const char* category, const char* format, const LogArgument* arguments, std::uint32_t count) {
  static_cast<Worker*>(state)->log.add(thread, level, where, subsystem, category, format, arguments, count);
}

// A stop must not tear the checker's own memory.
class Undisturbed {
 public:
  Undisturbed() { support::defer_stops(true); }
  ~Undisturbed() { support::defer_stops(false); }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;
};

void* check_access(ThreadgroupState* state, void* address, void* base, std::uint64_t size, std::uint32_t root,
                   std::uint64_t bytes, std::uint64_t value, std::uint32_t flags, std::uint32_t thread,
                   const checker::Site* site) {
  if (state->watch->is_plainly_fine(address, base, size, root, bytes, flags, thread)) return address;
  const Undisturbed undisturbed;
  return state->watch->access(address, base, size, root, bytes, value, flags, thread, site);
}

void check_fail(ThreadgroupState* state, std::uint32_t kind, const char* name, std::uint32_t thread,
                const checker::Site* site) {
  const Undisturbed undisturbed;
  state->watch->fail(static_cast<CheckClass>(kind), name, thread, site);
}

void check_meeting(ThreadgroupState* state, std::uint32_t step, std::uint32_t what, std::uint32_t operand,
                   std::uint32_t thread, const checker::Site* site) {
  const Undisturbed undisturbed;
  state->watch->meet(static_cast<checker::MeetingStep>(step), what, operand, thread, site);
}

void check_end(ThreadgroupState* state, std::uint32_t thread) {
  const Undisturbed undisturbed;
  state->watch->end(thread);
}

[[noreturn]] void report_bounds(ThreadgroupState* state, std::uint32_t thread, std::uint64_t offset,
                                std::uint64_t bytes, std::uint64_t available, const std::uint64_t* front,
                                const char* what, const char* first, const char* last) {
  auto& worker = state ? static_cast<Worker&>(*state) : *current_worker;
  worker.out_of_bounds = {true, false, thread, offset, bytes, available, *front, what, first, last};
  __builtin_trap();  // into the crash guard
}

}  // namespace

void report_wrapped_row(ThreadgroupState* state, std::uint32_t thread, const char* what, const char* access) {
  static_cast<Worker&>(*state).out_of_bounds = {true, true, thread, 0, 0, 0, 0, what, access, access};
  __builtin_trap();
}

Worker* WorkerPool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (Worker* worker = first_) {
      first_ = worker->next_idle;
      return worker;
    }
  }
  auto worker = std::make_unique<Worker>();
  if (make_runner_) worker->runner = make_runner_();
  return worker.release();
}

void WorkerPool::give_back(Worker* worker) {
  const std::lock_guard lock(mutex_);
  worker->next_idle = first_;
  first_ = worker;
}

WorkerLease::WorkerLease(WorkerPool& pool) : pool_(pool), worker_(pool.take()), outer_(current_worker) {
  current_worker = worker_;
}

WorkerLease::~WorkerLease() {
  current_worker = outer_;
  pool_.give_back(worker_);
}

void* runtime_symbol(std::string_view name) {
  if (name == current_name) return reinterpret_cast<void*>(&current);
  if (name == current_thread_name) return reinterpret_cast<void*>(&current_thread);
  if (name == report_bounds_name) return reinterpret_cast<void*>(&report_bounds);
  if (name == log_name) return reinterpret_cast<void*>(&log);
  if (name.starts_with(check_access_name)) return reinterpret_cast<void*>(&check_access);
  if (name == check_fail_name) return reinterpret_cast<void*>(&check_fail);
  if (name == check_meeting_name) return reinterpret_cast<void*>(&check_meeting);
  if (name == check_end_name) return reinterpret_cast<void*>(&check_end);
  return nullptr;
}

}  // namespace metalloid::engines::cpu
