#include "engines/reference/worker.h"

#include <cstdint>
#include <mutex>
#include <string_view>

#include "support/fork_safe_mutex.h"

namespace metalloid::engines::reference {
namespace {

thread_local Worker* current_worker = nullptr;

// Idle workers of all threads. Never destroyed: threads may still run at exit.
struct IdleList {
  support::ForkSafeMutex mutex;
  Worker* first = nullptr;
};
IdleList& idle = *new IdleList;

std::uint64_t cross_lane(ThreadgroupState* state, const Site* site, std::uint64_t value, std::uint32_t operand) {
  return static_cast<Worker*>(state)->runner.cross_lane(site, value, operand);
}

void barrier(ThreadgroupState* state, const Site* site) { static_cast<Worker*>(state)->runner.barrier(site); }

void call_path(ThreadgroupState* state, const CallPath* path) { static_cast<Worker*>(state)->runner.call_path(path); }

std::uint64_t* matrix_registers(ThreadgroupState* state) {
  return static_cast<Worker*>(state)->runner.matrix_registers();
}

void matrices(ThreadgroupState* state, const Site* site, const MatrixProgram* program, std::uint64_t*) {
  static_cast<Worker*>(state)->runner.matrices(site, program);
}

ThreadgroupState* current() { return current_worker; }

std::uint32_t current_thread(ThreadgroupState* state) { return static_cast<Worker*>(state)->runner.thread(); }

void log(ThreadgroupState* state, std::uint32_t thread, std::uint32_t level, const char* where, const char* format,
         const LogArgument* arguments, std::uint32_t count) {
  static_cast<Worker*>(state)->log.add(thread, level, where, format, arguments, count);
}

}  // namespace

WorkerLease::WorkerLease() : worker_(nullptr), outer_(current_worker) {
  {
    std::lock_guard lock(idle.mutex);
    if (idle.first) {
      worker_ = idle.first;
      idle.first = worker_->next_idle;
    }
  }
  if (!worker_) worker_ = new Worker;
  current_worker = worker_;
}

WorkerLease::~WorkerLease() {
  current_worker = outer_;
  std::lock_guard lock(idle.mutex);
  worker_->next_idle = idle.first;
  idle.first = worker_;
}

void* runtime_symbol(std::string_view name) {
  if (name == cross_lane_name) return reinterpret_cast<void*>(&cross_lane);
  if (name == barrier_name) return reinterpret_cast<void*>(&barrier);
  if (name == call_path_name) return reinterpret_cast<void*>(&call_path);
  if (name == matrix_registers_name) return reinterpret_cast<void*>(&matrix_registers);
  if (name == matrices_name) return reinterpret_cast<void*>(&matrices);
  if (name == current_name) return reinterpret_cast<void*>(&current);
  if (name == current_thread_name) return reinterpret_cast<void*>(&current_thread);
  if (name == log_name) return reinterpret_cast<void*>(&log);
  return nullptr;
}

}  // namespace metalloid::engines::reference
