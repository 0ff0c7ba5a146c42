#include "engines/stream.h"

#include <utility>

#include "engines/engine.h"

namespace metalloid::engines {

void Completion::wait() {
  if (is_done()) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return is_done(); });
}

void Completion::note(Times times, std::exception_ptr error) {
  times_ = times;
  error_ = std::move(error);
  is_done_.store(true, std::memory_order_release);
}

void Completion::finish(Times times, std::exception_ptr error) {
  {
    const std::lock_guard lock(mutex_);
    note(times, std::move(error));
  }
  changed_.notify_all();
}

std::shared_ptr<Completion> ImmediateStream::enqueue(const Executable& executable, const DispatchPlan& plan,
                                                     Timing /*timing*/) {
  auto completion = std::make_shared<Completion>();
  std::exception_ptr error;
  const auto begin = Completion::Clock::now();
  try {
    executable.run(plan);
  } catch (...) {
    error = std::current_exception();
  }
  completion->finish({begin, Completion::Clock::now()}, std::move(error));
  return completion;
}

}  // namespace metalloid::engines
