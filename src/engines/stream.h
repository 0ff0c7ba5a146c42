// Work of one piece of hardware, in order, and what became of it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>

namespace metalloid::engines {

class Executable;
struct DispatchPlan;

// Of a dispatch on a stream: shared by who runs it and who waits.
class Completion {
 public:
  using Clock = std::chrono::steady_clock;
  struct Times {
    Clock::time_point begin, end;
  };

  bool is_done() const { return is_done_.load(std::memory_order_acquire); }
  // What the dispatch throws is not thrown here.
  void wait() const;
  // Once it is done.
  std::exception_ptr error() const { return error_; }
  Times times() const { return times_; }

  // By the engine, once.
  void finish(Times times, std::exception_ptr error);

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::atomic<bool> is_done_{false};
  std::exception_ptr error_;
  Times times_;
};

// What is enqueued begins when all before it on the same stream is done. Used by one thread at a time.
class Stream {
 public:
  virtual ~Stream() = default;  // everything on it is done
  // The executable, and what the plan points to, live until the dispatch is done.
  virtual std::shared_ptr<const Completion> enqueue(const Executable& executable, const DispatchPlan& plan) = 0;
};

// Of hardware that the host's threads are: runs what is enqueued before it returns.
class ImmediateStream final : public Stream {
 public:
  std::shared_ptr<const Completion> enqueue(const Executable& executable, const DispatchPlan& plan) override;
};

}  // namespace metalloid::engines
