// Runs the simdgroups of one threadgroup that meet at barriers: each up to its next stop, round by round, until all
// have ended. A barrier opens when no simdgroup is on its way to one any more; those that have ended do not count.
#pragma once

#include <cstdint>

#include "engines/cpu_shared/run/kernel_stack.h"
#include "engines/cpu_shared/run/thread_memory.h"
#include "engines/cpu_shared/run/thread_runner.h"
#include "engines/simd/run/simdgroup_abi.h"

namespace metalloid::engines::simd {

class SimdgroupRunner final : public cpu::ThreadRunner {
 public:
  void prepare(std::uint32_t threads, const void* engine_facts, cpu::ThreadMemory& variables,
               cpu::KernelStack& stack) override;
  void run(void* entry, ThreadgroupState& state) override;
  void reset() override {}
  std::uint32_t thread() const override { return simdgroup_ * lanes_; }
  bool is_outside_variables(const void* address) const override { return frames_.is_guard(address); }

 private:
  static void** run_all();
  void start(unsigned simdgroup);
  void resume(unsigned simdgroup);
  void note_stop();

  unsigned lanes_ = 0, simdgroup_ = 0, count_ = 0, started_ = 0;
  std::uint64_t waiting_ = 0;  // at a barrier; a bit for each simdgroup
  std::uint64_t yielding_ = 0;
  std::uint64_t to_resume_ = 0;
  SimdgroupStop stop_ = SimdgroupStop::end;  // what the running simdgroup says of itself
  RunSimdgroup entry_ = nullptr;
  ThreadgroupState* state_ = nullptr;
  cpu::KernelStack* stack_ = nullptr;
  cpu::ThreadMemory frames_;
  cpu::ThreadMemory* variables_ = nullptr;
};

}  // namespace metalloid::engines::simd
