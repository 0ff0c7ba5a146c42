// Work of the runtime's queues on a GPU.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "engines/cuda/run/executable.h"
#include "engines/stream.h"

namespace metalloid::engines::cuda {

// Launches at once; a thread waits for what was launched, in order, and tells.
class GpuStream final : public Stream {
 public:
  explicit GpuStream(Gpu& gpu);
  ~GpuStream() override;
  std::shared_ptr<const Completion> enqueue(const Executable& executable, const DispatchPlan& plan) override;

 private:
  struct Work {
    const DispatchPlan plan;
    std::unique_ptr<Launch> launch;
    std::shared_ptr<Completion> completion;
    Completion::Clock::time_point begin;
  };
  void wait_for_work();

  Gpu& gpu_;
  std::unique_ptr<Queue> queue_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> under_way_;
  bool is_closing_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace metalloid::engines::cuda
