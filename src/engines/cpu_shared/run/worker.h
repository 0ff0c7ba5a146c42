// What one operating-system thread needs to run threadgroups: their state, their memory, a stack, and what the engine
// adds. Workers are made once and lent to dispatches.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "engines/cpu_shared/kernel_abi.h"
#include "engines/cpu_shared/run/kernel_stack.h"
#include "engines/cpu_shared/run/log_buffer.h"
#include "engines/cpu_shared/run/thread_memory.h"
#include "engines/cpu_shared/run/thread_runner.h"
#include "engines/cpu_shared/run/threadgroup_memory.h"
#include "engines/out_of_bounds.h"
#include "support/fork_safe_mutex.h"

namespace metalloid::engines::cpu {

struct Worker : ThreadgroupState {
  std::vector<void*> argument_list;
  std::vector<std::uint64_t> argument_sizes;
  OutOfBounds out_of_bounds;
  ThreadgroupMemory memory;  // for static variables and [[threadgroup(n)]] arguments
  ThreadMemory variables;    // of the threads
  LogBuffer log;
  KernelStack stack;
  std::unique_ptr<ThreadRunner> runner;  // null in engines whose threads never meet

  Worker* next_idle = nullptr;
};

// Idle workers of one engine. Never destroyed: threads may still run at exit.
class WorkerPool {
 public:
  using MakeRunner = std::unique_ptr<ThreadRunner> (*)();
  explicit WorkerPool(MakeRunner make_runner) : make_runner_(make_runner) {}
  Worker* take();
  void give_back(Worker* worker);

 private:
  const MakeRunner make_runner_;  // may be null
  support::ForkSafeMutex mutex_;
  Worker* first_ = nullptr;
};

// Borrows an idle worker, or makes one, for the current thread.
class WorkerLease {
 public:
  explicit WorkerLease(WorkerPool& pool);
  ~WorkerLease();
  WorkerLease(const WorkerLease&) = delete;
  WorkerLease& operator=(const WorkerLease&) = delete;

  Worker& operator*() const { return *worker_; }
  Worker* operator->() const { return worker_; }

 private:
  WorkerPool& pool_;
  Worker* worker_;
  Worker* outer_;  // of this thread: a dispatch may run inside another's wait
};

// The runtime entry point of that name (kernel_abi.h), or null.
void* runtime_symbol(std::string_view name);

// Ends the dispatch: a lane's access lies inside of its memory, but not where the engine has it
// (simd/widening/wraps.cpp). Texts as in OutOfBounds, or null.
[[noreturn]] void report_wrapped_row(ThreadgroupState* state, std::uint32_t thread, const char* what,
                                     const char* access);

}  // namespace metalloid::engines::cpu
