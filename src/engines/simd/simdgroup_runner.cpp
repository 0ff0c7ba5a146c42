#include "engines/simd/simdgroup_runner.h"

#include <bit>
#include <cstring>

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
  waiting_ = 0;
  state.lane = &waits_;
  stack_->run(start_all, this);
  while (waiting_ != 0) stack_->run(resume_all, this);
}

void SimdgroupRunner::place(unsigned simdgroup) {
  simdgroup_ = simdgroup;
  state_->frame = frames_.of(simdgroup);
  state_->private_memory = variables_->of(simdgroup);
}

// On the kernel's stack, where a kernel may run over what is kept there (kernel_stack.h).
void** SimdgroupRunner::start_all() {
  for (unsigned simdgroup = 0;; ++simdgroup) {
    auto& runner = *static_cast<SimdgroupRunner*>(KernelStack::current_owner());
    if (simdgroup >= runner.count_) return KernelStack::way_back();
    runner.place(simdgroup);
    runner.entry_(runner.state_, simdgroup * 32);
    auto& still = *static_cast<SimdgroupRunner*>(KernelStack::current_owner());
    still.waiting_ |= static_cast<std::uint32_t>(still.waits_) << still.simdgroup_;
    simdgroup = still.simdgroup_;
  }
}

void** SimdgroupRunner::resume_all() {
  for (std::uint32_t rest = static_cast<SimdgroupRunner*>(KernelStack::current_owner())->waiting_; rest != 0;) {
    auto& runner = *static_cast<SimdgroupRunner*>(KernelStack::current_owner());
    const auto simdgroup = static_cast<unsigned>(std::countr_zero(rest));
    runner.simdgroup_ = simdgroup;
    void* frame = runner.frames_.of(simdgroup);
    (*static_cast<ResumeSimdgroup*>(frame))(frame);
    auto& still = *static_cast<SimdgroupRunner*>(KernelStack::current_owner());
    if (still.waits_ == 0) still.waiting_ &= ~(1u << still.simdgroup_);
    rest = still.simdgroup_ == 31 ? 0 : still.waiting_ >> (still.simdgroup_ + 1) << (still.simdgroup_ + 1);
  }
  return KernelStack::way_back();
}

}  // namespace metalloid::engines::simd
