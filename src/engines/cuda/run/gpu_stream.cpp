#include "engines/cuda/run/gpu_stream.h"

#include <utility>

namespace metalloid::engines::cuda {

GpuStream::GpuStream(Gpu& gpu) : gpu_(gpu), queue_(gpu.take_queue()), thread_([this] { wait_for_work(); }) {}

GpuStream::~GpuStream() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
  gpu_.give_back(std::move(queue_));
}

std::shared_ptr<const Completion> GpuStream::enqueue(const Executable& executable, const DispatchPlan& plan) {
  auto completion = std::make_shared<Completion>();
  const auto& kernel = static_cast<const GpuExecutable&>(executable);
  const auto begin = Completion::Clock::now();
  try {
    auto launch = std::make_unique<Launch>(kernel, plan, gpu_, *queue_);
    const std::lock_guard lock(mutex_);
    under_way_.push_back({plan, std::move(launch), completion, begin});
  } catch (...) {
    completion->finish({begin, Completion::Clock::now()}, std::current_exception());
    return completion;
  }
  changed_.notify_all();
  return completion;
}

void GpuStream::wait_for_work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return is_closing_ || !under_way_.empty(); });
    if (under_way_.empty()) return;
    Work& next = under_way_.front();
    lock.unlock();
    std::exception_ptr error;
    try {
      next.launch->wait(next.plan);
    } catch (...) {
      error = std::current_exception();
    }
    next.launch = nullptr;
    next.completion->finish({next.begin, Completion::Clock::now()}, std::move(error));
    lock.lock();
    under_way_.pop_front();
  }
}

}  // namespace metalloid::engines::cuda
