// Work of one piece of hardware, in order, and what became of it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
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

  Completion() = default;
  virtual ~Completion() = default;
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  // Whether somebody has found out that it is; hardware may know more.
  bool is_done() const { return is_done_.load(std::memory_order_acquire); }
  // Finds out whether it is, without a wait.
  virtual bool poll() { return is_done(); }
  // What the dispatch throws is not thrown here.
  virtual void wait();
  // Once it is done.
  std::exception_ptr error() const { return error_; }
  Times times() const { return times_; }

  // By the engine, once.
  void finish(Times times, std::exception_ptr error);

 protected:
  // The same where nobody waits in wait() of this class.
  void note(Times times, std::exception_ptr error);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> is_done_{false};
  std::exception_ptr error_;
  Times times_;
};

// Whether anybody asks for a completion's times. To read clocks takes a tenth of what a dispatch costs the host.
enum class Timing : std::uint8_t { none, wanted };

// What is enqueued begins when all before it on the same stream is done. Used by one thread at a time.
class Stream {
 public:
  virtual ~Stream() = default;  // everything on it is done
  // The executable, and what the plan points to, live until the dispatch is done.
  virtual std::shared_ptr<Completion> enqueue(const Executable& executable, const DispatchPlan& plan,
                                              Timing timing) = 0;
};

// A stream of the hardware's kind that others give work to as well. What is enqueued is on it when the call returns,
// and nobody waits. Used by one thread at a time.
class SharedStream {
 public:
  virtual ~SharedStream() = default;  // waits for nothing
  // The executable lives as long as this, memory of the hardware until the dispatch is done, and bytes of the dispatch
  // until the call returns. Throws what work before it has thrown, and does nothing then.
  virtual void enqueue(const Executable& executable, const DispatchPlan& plan) = 0;
  // What is enqueued next begins when all that is on the other one by now is done.
  virtual void wait_for(std::uintptr_t other) = 0;
  virtual bool is_idle() = 0;
  // Whether the host can wait for it now.
  virtual bool can_wait() { return true; }
  // Waits for all that was enqueued, also when who made the stream has destroyed it since. Throws the first error since
  // the last call that threw.
  virtual void synchronize() = 0;
};

// Of hardware that the host's threads are: runs what is enqueued before it returns.
class ImmediateStream final : public Stream {
 public:
  std::shared_ptr<Completion> enqueue(const Executable& executable, const DispatchPlan& plan, Timing timing) override;
};

}  // namespace metalloid::engines
