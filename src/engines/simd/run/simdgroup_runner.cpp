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
  lanes_ = facts.lanes;
  frames_.reserve((threads + lanes_ - 1) / lanes_, facts.frame_bytes);
}

void SimdgroupRunner::run(void* entry, ThreadgroupState& state) {
  entry_ = reinterpret_cast<RunSimdgroup>(entry);
  state_ = &state;
  const std::uint32_t threads =
      state.threads_per_threadgroup[0] * state.threads_per_threadgroup[1] * state.threads_per_threadgroup[2];
  count_ = (threads + lanes_ - 1) / lanes_;
  started_ = waiting_ = yielding_ = to_resume_ = 0;
  state.lane = reinterpret_cast<std::uint64_t*>(&stop_);
  stack_->run(run_all, this);
}

void SimdgroupRunner::note_stop() {
  const std::uint64_t simdgroup = std::uint64_t{1} << simdgroup_;
  if (stop_ == SimdgroupStop::barrier) {
    waiting_ |= simdgroup;
  } else if (stop_ == SimdgroupStop::turn) {
    yielding_ |= simdgroup;
  }
}

// On the kernel's stack, where a kernel may run over what is kept there (kernel_stack.h).
void** SimdgroupRunner::run_all() {
  while (true) {
    auto& runner = *static_cast<SimdgroupRunner*>(KernelStack::current_owner());
    if (runner.started_ < runner.count_) {
      runner.start(runner.started_++);
    } else {
      if (runner.to_resume_ == 0) {
        runner.to_resume_ = std::exchange(runner.yielding_ != 0 ? runner.yielding_ : runner.waiting_, 0);
        if (runner.to_resume_ == 0) return KernelStack::way_back();
      }
      runner.resume(static_cast<unsigned>(std::countr_zero(runner.to_resume_)));
    }
    static_cast<SimdgroupRunner*>(KernelStack::current_owner())->note_stop();
  }
}

inline void SimdgroupRunner::start(unsigned simdgroup) {
  simdgroup_ = simdgroup;
  state_->frame = frames_.of(simdgroup);
  state_->private_memory = variables_->of(simdgroup);
  entry_(state_, simdgroup * lanes_);
}

inline void SimdgroupRunner::resume(unsigned simdgroup) {
  simdgroup_ = simdgroup;
  to_resume_ &= to_resume_ - 1;
  void* frame = frames_.of(simdgroup);
  (*static_cast<ResumeSimdgroup*>(frame))(frame);
}

}  // namespace metalloid::engines::simd
