// What one operating-system thread needs to run threadgroups: their state, threadgroup memory and lanes. Workers
// are made once and lent to dispatches.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "engines/reference/kernel_abi.h"
#include "engines/reference/threadgroup_runner.h"

namespace metalloid::engines::reference {

struct Worker : ThreadgroupState {
  ThreadgroupRunner runner;
  std::vector<void*> argument_list;

  // Uninitialised memory for static variables and [[threadgroup(n)]] arguments, aligned to 128 bytes.
  std::byte* reserve_threadgroup_memory(std::size_t bytes);

  Worker* next_idle = nullptr;

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t memory_size_ = 0;
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
