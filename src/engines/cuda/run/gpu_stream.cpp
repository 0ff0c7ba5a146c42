#include "engines/cuda/run/gpu_stream.h"

#include <mutex>
#include <optional>
#include <utility>

namespace metalloid::engines::cuda {
namespace {

class LaunchCompletion final : public Completion {
 public:
  LaunchCompletion(const Executable& executable, const DispatchPlan& plan, Gpu& gpu, Queue& queue) {
    try {
      launch_.emplace(static_cast<const GpuExecutable&>(executable), plan, gpu, queue);
    } catch (...) {
      finish({begin_, Clock::now()}, std::current_exception());
    }
  }
  ~LaunchCompletion() override { wait(); }
  LaunchCompletion(const LaunchCompletion&) = delete;
  LaunchCompletion& operator=(const LaunchCompletion&) = delete;

  void wait() override {
    if (is_done()) return;
    const std::lock_guard lock(waiting_);
    if (is_done()) return;
    std::exception_ptr error;
    try {
      launch_->wait();
    } catch (...) {
      error = std::current_exception();
    }
    launch_.reset();
    finish({begin_, Clock::now()}, std::move(error));
  }

 private:
  const Clock::time_point begin_ = Clock::now();
  std::mutex waiting_;  // of who waits for the GPU
  std::optional<Launch> launch_;
};

}  // namespace

GpuStream::~GpuStream() {
  if (const auto last = last_.lock()) last->wait();
  gpu_.give_back(std::move(queue_));
}

std::shared_ptr<Completion> GpuStream::enqueue(const Executable& executable, const DispatchPlan& plan) {
  auto completion = std::make_shared<LaunchCompletion>(executable, plan, gpu_, *queue_);
  last_ = completion;
  return completion;
}

}  // namespace metalloid::engines::cuda
