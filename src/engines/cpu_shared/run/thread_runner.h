// How an engine runs the threads of a threadgroup that meet at barriers and cross-lane operations. Each worker has one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engines/cpu_shared/kernel_abi.h"
#include "engines/cpu_shared/run/kernel_stack.h"
#include "engines/cpu_shared/run/thread_memory.h"

namespace metalloid::engines::cpu {

class ThreadRunner {
 public:
  virtual ~ThreadRunner() = default;
  // For threadgroups of at most that many threads, whose variables and stack are given. `engine_facts` is what
  // generated code has under that name. Throws std::bad_alloc.
  virtual void prepare(std::uint32_t threads, const void* engine_facts, ThreadMemory& variables,
                       KernelStack& stack) = 0;
  // Runs the threadgroup that `state` describes: it is the one that run-time entry points are called with. `entry` is
  // the generated run_thread_name. Allocates and locks nothing: a crashing or endless kernel is abandoned anywhere.
  virtual void run(void* entry, ThreadgroupState& state) = 0;
  // After a run was abandoned.
  virtual void reset() = 0;
  // The thread that runs, or that ran when the run was abandoned, within its threadgroup.
  virtual std::uint32_t thread() const = 0;
  // Of stacks and memory besides those that prepare() got: whether the address lies just outside of what a kernel may
  // use, and the end of the stack on which it lies, if it does.
  virtual bool is_outside_stack(const void*) const { return false; }
  virtual bool is_outside_variables(const void*) const { return false; }
  virtual const std::byte* end_of_stack(const void*) const { return nullptr; }
};

}  // namespace metalloid::engines::cpu
