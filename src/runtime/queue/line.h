// The order of a queue's command buffers, and the threads that carry them out and tell of them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "metalloid/queue.h"
#include "runtime/queue/issue.h"
#include "runtime/queue/process.h"

namespace metalloid::runtime {

// Runs functions in order, on a thread that begins with the first.
class InOrderThread {
 public:
  InOrderThread();
  // What was posted is done, unless it is this thread that lets go.
  ~InOrderThread();
  InOrderThread(const InOrderThread&) = delete;
  InOrderThread& operator=(const InOrderThread&) = delete;

  void post(std::function<void()> work);
  bool is_this() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

// A queue and its thread share it: the thread may outlive the queue.
class Line : public std::enable_shared_from_this<Line> {
 public:
  using Work = std::shared_ptr<CommandBuffer::State>;

  static std::shared_ptr<Line> begin();
  Line() = default;
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  void reserve(const CommandBuffer::State& work);  // the next place
  // It may begin, in its place or in the next one: in the calling thread if nothing is in front of it and nobody would
  // have to wait there, else in the line's.
  void commit(const Work& work);
  // A list of this alone that nobody asks about, if it can begin in the calling thread; else false, and nothing is
  // done.
  bool dispatch(std::shared_ptr<const PlannedDispatch> work);
  void drop(const CommandBuffer::State& work);  // it will never be committed
  // By the thread that issues: calls the function once those before it were called and the work is done, which is now
  // or on another thread.
  void finish_in_order(UnderWay work, std::function<void(UnderWay&)> finish);
  void finished(std::exception_ptr error, std::size_t count = 1);  // of what was committed, with its handlers
  bool is_idle() const { return unfinished_.load(std::memory_order_acquire) == 0; }
  void wait_until_idle();
  void wait();  // throws the first error since the last call
  // No more work comes. Waits for what there is, unless its own thread asks.
  void end();

  // Whether the calling thread is the one that carries out this line's work.
  bool is_this_thread() const;
  InOrderThread& handlers() { return handlers_; }

  const Process process;

 private:
  struct Place {
    const CommandBuffer::State* holder;
    Work work;  // once it is committed
  };
  // Dispatches that nobody asks about, of which the finisher tells at once when it comes to them.
  struct Together {
    UnderWay work;
    std::size_t count = 0;
  };
  // As finish_in_order.
  void finish_together(UnderWay work);
  void work();
  // Under the mutex, as what follows.
  bool begins_here(const Work& work);
  // While it lives the calling thread issues, and the mutex is free.
  class Issuing;
  Place* place_of(const CommandBuffer::State& work);

  std::mutex mutex_;
  std::condition_variable changed_;  // for the line's thread
  std::condition_variable idle_;     // nothing is unfinished
  std::deque<Place> order_;
  bool is_issuing_ = false;                  // some thread, and the next work waits for that
  Issue issue_;                              // of that thread
  std::atomic<std::size_t> unfinished_ = 0;  // committed
  std::atomic<std::size_t> finishing_ = 0;   // on the thread for that
  bool is_closing_ = false;
  std::exception_ptr first_error_;  // since the last wait()
  std::mutex together_mutex_;
  std::shared_ptr<Together> together_;  // what the finisher was given last, until it begins
  std::thread thread_;
  InOrderThread finisher_, handlers_;
};

}  // namespace metalloid::runtime
