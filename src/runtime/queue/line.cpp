#include "runtime/queue/line.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "metalloid/error.h"
#include "runtime/observe/recorder.h"
#include "runtime/queue/command_buffer.h"

namespace metalloid::runtime {
namespace {

// Whose work this thread does.
thread_local const void* current_line = nullptr;

// How often the finisher looks for dispatches that nobody lets go: seldom enough to be in nobody's way.
constexpr std::chrono::milliseconds between_looks{1};
// Dispatches that are let go: who dispatches gets the memory of those in front back as it takes some.
constexpr std::size_t at_a_dispatch = 2, all_ended = std::numeric_limits<std::size_t>::max();

}  // namespace

class Line::Issuing {
 public:
  Issuing(Line& line, std::unique_lock<std::mutex>& lock) : line_(line), lock_(lock) {
    line_.is_issuing_ = true;
    lock_.unlock();
  }
  ~Issuing() {
    lock_.lock();
    line_.is_issuing_ = false;
  }
  Issuing(const Issuing&) = delete;
  Issuing& operator=(const Issuing&) = delete;

 private:
  Line& line_;
  std::unique_lock<std::mutex>& lock_;
};

std::shared_ptr<Line> Line::begin() {
  auto line = std::make_shared<Line>();
  line->thread_ = std::thread([line] { line->work(); });
  return line;
}

bool Line::is_this_thread() const { return current_line == this; }

Line::Place* Line::place_of(const CommandBuffer::State& work) {
  const auto found = std::ranges::find(order_, &work, &Place::holder);
  return found == order_.end() ? nullptr : &*found;
}

void Line::reserve(const CommandBuffer::State& work) {
  process.require("enqueue()");
  const std::lock_guard lock(mutex_);
  if (!place_of(work)) order_.push_back({&work, nullptr});
}

void Line::commit(const Work& work) {
  process.require("work");
  {
    std::unique_lock lock(mutex_);
    ++unfinished_;
    if (begins_here(work)) {
      {
        const Issuing here(*this, lock);
        work->run(issue_);
      }
      if (order_.empty() && !is_closing_) return;  // nobody waits for the line
    } else {
      Place* place = place_of(*work);
      if (!place) place = &order_.emplace_back(Place{work.get(), nullptr});
      place->work = work;
    }
  }
  changed_.notify_all();
}

bool Line::begins_here(const Work& work) {
  if (is_issuing_ || is_closing_ || !work->begins_at_once(issue_)) return false;
  if (order_.empty()) return true;
  if (order_.size() > 1 || order_.front().holder != work.get()) return false;
  order_.pop_front();
  return true;
}

bool Line::dispatch(std::shared_ptr<const PlannedDispatch> work) {
  process.require("work");
  std::unique_lock lock(mutex_);
  if (is_issuing_ || is_closing_ || !order_.empty() || !issue_.takes_at_once(*work->at_once)) return false;
  ++unfinished_;
  std::shared_ptr<engines::Completion> completion;
  std::exception_ptr error;
  const auto timing = is_observed() ? engines::Timing::wanted : engines::Timing::none;
  {
    const Issuing here(*this, lock);
    try {
      completion = issue_.hand_over(*work, timing);
    } catch (...) {
      error = std::current_exception();
    }
  }
  if (error) {
    hand_over({}, [this, error](UnderWay&) { finished(error); });
  } else {
    open_.add(std::move(completion), std::move(work));
    if (timing == engines::Timing::wanted) {
      hand_over({}, nullptr);  // who observes wants to know when it ended
    } else {
      if (may_let_go()) let_go_of_ended(at_a_dispatch);
      look_later();
    }
  }
  if (waiters_ != 0) idle_.notify_all();
  const bool is_waited_for = !order_.empty() || is_closing_;
  lock.unlock();
  if (is_waited_for) changed_.notify_all();
  return true;
}

void Line::drop(const CommandBuffer::State& work) {
  if (!process.is_this()) return;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(order_, [&](const Place& place) { return place.holder == &work; });
  }
  changed_.notify_all();
}

void Line::finish_in_order(UnderWay work, std::function<void(UnderWay&)> finish) {
  std::unique_lock lock(mutex_);
  if (!may_let_go() || open_.size() != 0 || !work.is_done()) return hand_over(std::move(work), std::move(finish));
  lock.unlock();
  finish(work);
}

void Line::hand_over(UnderWay work, std::function<void(UnderWay&)> finish) {
  struct Handed {
    UnderWay open, work;
    std::function<void(UnderWay&)> finish;
  };
  ++finishing_;
  auto handed = std::make_shared<Handed>(std::exchange(open_, {}), std::move(work), std::move(finish));
  finisher_.post([self = shared_from_this(), handed = std::move(handed)] {
    std::unique_lock lock(self->mutex_);
    self->idle_.wait(lock, [&] { return !self->is_letting_go_; });
    lock.unlock();
    const std::size_t count = handed->open.size();
    auto error = handed->open.wait();
    lock.lock();
    self->count_finished(std::move(error), count);
    lock.unlock();
    if (handed->finish) handed->finish(handed->work);
    lock.lock();
    --self->finishing_;
    if (self->waiters_ != 0) self->idle_.notify_all();
  });
}

void Line::let_go_of_ended(std::size_t most) {
  std::exception_ptr error;
  const std::size_t count = open_.let_go_of_ended(most, error, kept_);
  let_go_ += count;
  if (count != 0) count_finished(std::move(error), count);
}

void Line::let_go(UnderWay open, std::unique_lock<std::mutex>& lock) {
  is_letting_go_ = true;
  std::vector<Buffer> kept = std::exchange(kept_, {});
  lock.unlock();
  const std::size_t count = open.size();
  auto error = open.wait();
  kept.clear();
  lock.lock();
  is_letting_go_ = false;
  let_go_ += count;
  count_finished(std::move(error), count);
  idle_.notify_all();
}

void Line::look_later() {
  if (std::exchange(is_looked_after_, true)) return;
  finisher_.post_later([self = shared_from_this()] { self->look_after_open(); }, between_looks);
}

void Line::look_after_open() {
  std::unique_lock lock(mutex_);
  is_looked_after_ = false;
  if (may_let_go()) {
    // As long as some are let go, somebody is there who dispatches: what this thread frees comes slower to that one.
    const bool nobody_is_there = let_go_ == let_go_before_;
    let_go(nobody_is_there ? std::exchange(open_, {}) : UnderWay(), lock);
    let_go_before_ = let_go_;
  }
  if (open_.size() != 0 || !kept_.empty()) look_later();
}

void Line::count_finished(std::exception_ptr error, std::size_t count) {
  unfinished_ -= count;
  if (error && !first_error_) first_error_ = std::move(error);
  if (unfinished_ == 0 || waiters_ != 0) idle_.notify_all();
}

void Line::finished(std::exception_ptr error, std::size_t count) {
  const std::lock_guard lock(mutex_);
  count_finished(std::move(error), count);
}

bool Line::is_idle() {
  if (unfinished_.load(std::memory_order_acquire) == 0) return true;
  const std::lock_guard lock(mutex_);
  if (may_let_go()) let_go_of_ended(all_ended);
  // Who asks may ask again until it is.
  if (open_.size() != 0) hand_over({}, nullptr);
  return unfinished_ == 0;
}

void Line::wait_for_all(std::unique_lock<std::mutex>& lock) {
  ++waiters_;
  while (unfinished_ != 0 || !kept_.empty() || is_letting_go_) {
    const bool has_something = open_.size() != 0 || !kept_.empty();
    if (may_let_go() && order_.empty() && has_something) {
      let_go(std::exchange(open_, {}), lock);
    } else {
      idle_.wait(lock);
    }
  }
  --waiters_;
}

void Line::wait_until_idle() {
  process.require("wait()");
  if (is_this_thread()) {
    throw Error(ErrorCode::invalid_argument,
                "a queue's work calls wait() of the same queue, and would wait for itself");
  }
  std::unique_lock lock(mutex_);
  wait_for_all(lock);
}

void Line::wait() {
  wait_until_idle();
  const std::lock_guard lock(mutex_);
  if (auto error = std::exchange(first_error_, nullptr)) std::rethrow_exception(error);
}

void Line::end() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  changed_.notify_all();
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();  // its own work let the queue go: the thread does the rest and ends
    return;
  }
  thread_.join();
  if (handlers_.is_this() || finisher_.is_this()) return;
  std::unique_lock lock(mutex_);
  wait_for_all(lock);
  finisher_.drop_later();
}

void Line::work() {
  current_line = this;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock,
                  [&] { return !is_issuing_ && (order_.empty() ? is_closing_ : order_.front().work || is_closing_); });
    // What is not committed when the queue goes never will be.
    if (is_closing_) std::erase_if(order_, [](const Place& place) { return !place.work; });
    if (order_.empty()) {
      if (!is_closing_) continue;
      is_issuing_ = true;
      lock.unlock();
      issue_ = {};  // its streams wait for what is on them
      return;
    }
    const Work work = std::move(order_.front().work);
    order_.pop_front();
    const Issuing here(*this, lock);
    work->run(issue_);
  }
}

}  // namespace metalloid::runtime
