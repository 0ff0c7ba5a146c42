#include "engines/simd/run/simdgroup_runner.h"

#include <bit>
#include <cstring>
#include <utility>

namespace metalloid::engines::simd {

using cpu::KernelStack;

void SimdgroupRunner::prepare(std::uint32_t threads, const void* engine_facts, cpu::ThreadMemory& variables,
                              KernelStack& stack) {
  SimdgroupFacts facts;
  std::memcpy(&facts, engine_facts, sizeof(facts));
  stack_ = &stack;
  variables_ = &variables;
  frames_.reserve((threads + 31) / 32, facts.frame_bytes);
}

void SimdgroupRunner::run(void* entry, ThreadgroupState& state) {
  entry_ = reinterpret_cast<RunSimdgroup>(entry);
  state_ = &state;
  const std::uint32_t threads =
      state.threads_per_threadgroup[0] * state.threads_per_threadgroup[1] * state.threads_per_threadgroup[2];
  count_ = (threads + 31) / 32;
  waiting_ = yielding_ = 0;
  state.lane = reinterpret_cast<std::uint64_t*>(&stop_);
  stack_->run(start_all, this);
  while ((waiting_ | yielding_) != 0) {
    to_resume_ = std::exchange(yielding_ != 0 ? yielding_ : waiting_, 0);
    stack_->run(resume_all, this);
  }
}

void SimdgroupRunner::place(unsigned simdgroup) {
  simdgroup_ = simdgroup;
  state_->frame = frames_.of(simdgroup);
  state_->private_memory = variables_->of(simdgroup);
}

void SimdgroupRunner::note_stop() {
  if (stop_ == SimdgroupStop::barrier) waiting_ |= 1u << simdgroup_;
  if (stop_ == SimdgroupStop::turn) yielding_ |= 1u << simdgroup_;
}

// On the kernel's stack, where a kernel may run over what is kept there (kernel_stack.h).
void** SimdgroupRunner::start_all() {
  for (unsigned simdgroup = 0;; ++simdgroup) {
    auto& runner = *static_cast<SimdgroupRunner*>(KernelStack::current_owner());
    if (simdgroup >= runner.count_) return KernelStack::way_back();
    runner.place(simdgroup);
    runner.entry_(runner.state_, simdgroup * 32);
    auto& still = *static_cast<SimdgroupRunner*>(KernelStack::current_owner());
    still.note_stop();
    simdgroup = still.simdgroup_;
  }
}

void** SimdgroupRunner::resume_all() {
  while (true) {
    auto& runner = *static_cast<SimdgroupRunner*>(KernelStack::current_owner());
    if (runner.to_resume_ == 0) return KernelStack::way_back();
    runner.simdgroup_ = static_cast<unsigned>(std::countr_zero(runner.to_resume_));
    runner.to_resume_ &= runner.to_resume_ - 1;
    void* frame = runner.frames_.of(runner.simdgroup_);
    (*static_cast<ResumeSimdgroup*>(frame))(frame);
    static_cast<SimdgroupRunner*>(KernelStack::current_owner())->note_stop();
  }
}

}  // namespace metalloid::engines::simd
