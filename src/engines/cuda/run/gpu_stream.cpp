#include "engines/cuda/run/gpu_stream.h"

#include <mutex>
#include <optional>
#include <utility>

namespace metalloid::engines::cuda {
namespace {

class LaunchCompletion final : public Completion {
 public:
  LaunchCompletion(const Executable& executable, const DispatchPlan& plan, Gpu& gpu, Queue& queue, Timing timing)
      : timing_(timing), begin_(now()) {
    try {
      launch_.emplace(static_cast<const GpuExecutable&>(executable), plan, gpu, queue);
    } catch (...) {
      note({begin_, now()}, std::current_exception());
    }
  }
  ~LaunchCompletion() override { wait(); }
  LaunchCompletion(const LaunchCompletion&) = delete;
  LaunchCompletion& operator=(const LaunchCompletion&) = delete;

  bool poll() override { return is_done() || finds_end(); }

  void wait() override {
    if (is_done()) return;
    const std::lock_guard lock(waiting_);
    if (!is_done()) end();
  }

 private:
  bool finds_end() {
    const std::unique_lock lock(waiting_, std::try_to_lock);
    if (!lock) return false;
    if (!is_done()) {
      if (!is_over()) return false;
      end();
    }
    return true;
  }

  // Or has failed, as who waits will find out.
  bool is_over() const {
    try {
      return launch_->has_ended();
    } catch (...) {
      return true;
    }
  }

  void end() {
    std::exception_ptr error;
    try {
      launch_->wait();
    } catch (...) {
      error = std::current_exception();
    }
    launch_.reset();
    note({begin_, now()}, std::move(error));
  }

  Clock::time_point now() const { return timing_ == Timing::wanted ? Clock::now() : Clock::time_point(); }

  const Timing timing_;
  const Clock::time_point begin_;
  std::mutex waiting_;  // of who waits for the GPU
  std::optional<Launch> launch_;
};

}  // namespace

GpuStream::~GpuStream() {
  if (const auto last = last_.lock()) last->wait();
  gpu_.give_back(std::move(queue_));
}

std::shared_ptr<Completion> GpuStream::enqueue(const Executable& executable, const DispatchPlan& plan, Timing timing) {
  auto completion = std::make_shared<LaunchCompletion>(executable, plan, gpu_, *queue_, timing);
  last_ = completion;
  return completion;
}

}  // namespace metalloid::engines::cuda
