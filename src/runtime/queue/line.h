// The order of a queue's command buffers, and the threads that carry them out and tell of them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "metalloid/device.h"
#include "metalloid/queue.h"
#include "runtime/queue/in_order_thread.h"
#include "runtime/queue/issue.h"
#include "runtime/queue/process.h"

namespace metalloid::runtime {

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
  // Whether all is done. What it keeps alive may still be there.
  bool is_idle();
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
  void work();
  // Under the mutex, as what follows.
  bool begins_here(const Work& work);
  // While it lives the calling thread issues, and the mutex is free.
  class Issuing;
  Place* place_of(const CommandBuffer::State& work);
  // The finisher waits for the open dispatches, then for the work.
  void hand_over(UnderWay work, std::function<void(UnderWay&)> finish);
  bool may_let_go() const { return finishing_ == 0 && !is_letting_go_; }
  void let_go_of_ended(std::size_t most);
  // Waits for these, which were the open ones, and lets go of what was kept, with the mutex free.
  void let_go(UnderWay open, std::unique_lock<std::mutex>& lock);
  void look_later();
  void look_after_open();
  void wait_for_all(std::unique_lock<std::mutex>& lock);
  void count_finished(std::exception_ptr error, std::size_t count);

  std::mutex mutex_;
  std::condition_variable changed_;  // for the line's thread
  std::condition_variable idle_;     // nothing is unfinished
  std::deque<Place> order_;
  bool is_issuing_ = false;                  // some thread, and the next work waits for that
  Issue issue_;                              // of that thread
  std::atomic<std::size_t> unfinished_ = 0;  // committed
  std::size_t finishing_ = 0;                // on the thread for that
  std::size_t waiters_ = 0;                  // for all to be done
  bool is_closing_ = false;
  std::exception_ptr first_error_;  // since the last wait()
  // Dispatches that nobody asks about, behind all that the finisher has. Who dispatches or waits lets them go, and the
  // finisher where nobody does.
  UnderWay open_;
  std::vector<Buffer> kept_;                      // of those that were let go
  bool is_letting_go_ = false;                    // some thread waits for such dispatches, or lets go of what was kept
  bool is_looked_after_ = false;                  // the finisher will look
  std::uint64_t let_go_ = 0, let_go_before_ = 0;  // ever, and when it looked last
  std::thread thread_;
  InOrderThread finisher_, handlers_;
};

}  // namespace metalloid::runtime
