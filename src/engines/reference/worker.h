// What one operating-system thread needs to run threadgroups: their state, threadgroup memory and lanes. Workers
// are made once and lent to dispatches.
#pragma once

#include <string_view>
#include <vector>

#include "engines/reference/kernel_abi.h"
#include "engines/reference/kernel_stack.h"
#include "engines/reference/log_buffer.h"
#include "engines/reference/threadgroup_memory.h"
#include "engines/reference/threadgroup_runner.h"

namespace metalloid::engines::reference {

struct Worker : ThreadgroupState {
  ThreadgroupRunner runner;
  std::vector<void*> argument_list;
  ThreadgroupMemory memory;  // for static variables and [[threadgroup(n)]] arguments
  LogBuffer log;
  KernelStack stack;  // of kernels whose threads never meet

  Worker* next_idle = nullptr;
};

// Borrows an idle worker, or makes one, for the current thread.
class WorkerLease {
 public:
  WorkerLease();
  ~WorkerLease();
  WorkerLease(const WorkerLease&) = delete;
  WorkerLease& operator=(const WorkerLease&) = delete;

  Worker& operator*() const { return *worker_; }
  Worker* operator->() const { return worker_; }

 private:
  Worker* worker_;
  Worker* outer_;  // of this thread: a dispatch may run inside another's wait
};

// The runtime entry point of that name (kernel_abi.h), or null.
void* runtime_symbol(std::string_view name);

}  // namespace metalloid::engines::reference
