#include "engines/cpu/run/worker.h"

#include <cstdint>
#include <mutex>
#include <string_view>

namespace metalloid::engines::cpu {
namespace {

thread_local Worker* current_worker = nullptr;

ThreadgroupState* current() { return current_worker; }

std::uint32_t current_thread(ThreadgroupState* state) { return static_cast<Worker*>(state)->runner->thread(); }

void log(ThreadgroupState* state, std::uint32_t thread, std::uint32_t level, const char* where, const char* subsystem,
         const char* category, const char* format, const LogArgument* arguments, std::uint32_t count) {
  static_cast<Worker*>(state)->log.add(thread, level, where, subsystem, category, format, arguments, count);
}

}  // namespace

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
  if (name == log_name) return reinterpret_cast<void*>(&log);
  return nullptr;
}

}  // namespace metalloid::engines::cpu
