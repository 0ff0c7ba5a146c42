#include "runtime/queue/line.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "metalloid/error.h"
#include "runtime/queue/command_buffer.h"

namespace metalloid::runtime {
namespace {

// Whose work this thread does.
thread_local const void* current_line = nullptr;
thread_local const void* current_thread = nullptr;

}  // namespace

struct InOrderThread::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> waiting;
  bool is_closing = false;
  bool is_asleep = false;              // and nobody has woken it
  std::atomic<std::size_t> count = 0;  // that wait

  // More may come soon, and to be woken takes longer than all the rest.
  void linger() const {
    constexpr auto patience = std::chrono::microseconds(20);
    const auto end = std::chrono::steady_clock::now() + patience;
    while (count.load(std::memory_order_relaxed) == 0 && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
  }

  void work() {
    current_thread = this;
    std::unique_lock lock(mutex);
    while (true) {
      if (waiting.empty() && !is_closing) {
        is_asleep = true;
        changed.wait(lock, [&] { return is_closing || !waiting.empty(); });
        is_asleep = false;
      }
      if (waiting.empty()) return;
      auto function = std::move(waiting.front());
      waiting.pop_front();
      --count;
      lock.unlock();
      function();
      function = nullptr;
      linger();
      lock.lock();
    }
  }
};

InOrderThread::InOrderThread() : shared_(std::make_shared<Shared>()) {}

InOrderThread::~InOrderThread() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->is_closing = true;
  }
  shared_->changed.notify_all();
  is_this() ? thread_.detach() : thread_.join();
}

void InOrderThread::post(std::function<void()> work) {
  bool wakes = false;
  {
    const std::lock_guard lock(shared_->mutex);
    if (!thread_.joinable()) thread_ = std::thread([shared = shared_] { shared->work(); });
    shared_->waiting.push_back(std::move(work));
    ++shared_->count;
    wakes = std::exchange(shared_->is_asleep, false);
  }
  if (wakes) shared_->changed.notify_all();
}

bool InOrderThread::is_this() const { return current_thread == shared_.get(); }

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
  {
    const Issuing here(*this, lock);
    try {
      issue_.dispatch(std::move(work));
      finish_together(issue_.take());
    } catch (...) {
      finish_in_order(issue_.take(),
                      [self = shared_from_this(), first = std::current_exception()](UnderWay& under_way) {
                        static_cast<void>(under_way.wait());
                        self->finished(first);
                      });
    }
  }
  if (order_.empty() && !is_closing_) return true;
  lock.unlock();
  changed_.notify_all();
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
  if (finishing_ == 0 && work.is_done()) return finish(work);
  {
    const std::lock_guard lock(together_mutex_);
    together_.reset();
  }
  ++finishing_;
  auto shared = std::make_shared<UnderWay>(std::move(work));
  finisher_.post([this, shared, finish = std::move(finish)] {
    finish(*shared);
    --finishing_;
  });
}

void Line::finish_together(UnderWay work) {
  if (finishing_ == 0 && work.is_done()) return finished(work.wait());
  const std::lock_guard lock(together_mutex_);
  const bool is_first = !together_;
  if (is_first) together_ = std::make_shared<Together>();
  together_->work.add(std::move(work));
  ++together_->count;
  if (!is_first) return;
  ++finishing_;
  finisher_.post([self = shared_from_this(), together = together_] {
    {
      const std::lock_guard begins(self->together_mutex_);
      if (self->together_ == together) self->together_.reset();
    }
    self->finished(together->work.wait(), together->count);
    --self->finishing_;
  });
}

void Line::finished(std::exception_ptr error, std::size_t count) {
  {
    const std::lock_guard lock(mutex_);
    unfinished_ -= count;
    if (error && !first_error_) first_error_ = std::move(error);
    if (unfinished_ != 0) return;
  }
  idle_.notify_all();
}

void Line::wait_until_idle() {
  process.require("wait()");
  if (is_this_thread()) {
    throw Error(ErrorCode::invalid_argument,
                "a queue's work calls wait() of the same queue, and would wait for itself");
  }
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return unfinished_ == 0; });
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
  idle_.wait(lock, [&] { return unfinished_ == 0; });
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
