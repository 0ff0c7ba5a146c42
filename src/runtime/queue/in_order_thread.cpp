#include "runtime/queue/in_order_thread.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

namespace metalloid::runtime {
namespace {

thread_local const void* current_thread = nullptr;

}  // namespace

struct InOrderThread::Shared {
  using Clock = std::chrono::steady_clock;

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> waiting;
  std::function<void()> later;
  Clock::time_point time_of_later;
  bool is_closing = false;
  bool is_asleep = false;              // and nobody has woken it
  std::atomic<std::size_t> count = 0;  // that wait

  // More may come soon, and to be woken takes longer than all the rest.
  void linger() const {
    constexpr auto patience = std::chrono::microseconds(20);
    const auto end = Clock::now() + patience;
    while (count.load(std::memory_order_relaxed) == 0 && Clock::now() < end) {
      std::this_thread::yield();
    }
  }

  void sleep(std::unique_lock<std::mutex>& lock) {
    is_asleep = true;
    if (later) {
      changed.wait_until(lock, time_of_later);
    } else {
      changed.wait(lock);
    }
    is_asleep = false;
  }

  void work() {
    current_thread = this;
    std::unique_lock lock(mutex);
    while (true) {
      std::function<void()> function;
      const bool was_posted = !waiting.empty();
      if (was_posted) {
        function = std::move(waiting.front());
        waiting.pop_front();
        --count;
      } else if (later && (is_closing || Clock::now() >= time_of_later)) {
        function = std::exchange(later, nullptr);
      } else if (is_closing) {
        return;
      } else {
        sleep(lock);
        continue;
      }
      lock.unlock();
      function();
      function = nullptr;
      if (was_posted) linger();
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

void InOrderThread::begin() {
  if (!thread_.joinable()) thread_ = std::thread([shared = shared_] { shared->work(); });
}

void InOrderThread::post(std::function<void()> work) {
  bool wakes = false;
  {
    const std::lock_guard lock(shared_->mutex);
    begin();
    shared_->waiting.push_back(std::move(work));
    ++shared_->count;
    wakes = std::exchange(shared_->is_asleep, false);
  }
  if (wakes) shared_->changed.notify_all();
}

void InOrderThread::post_later(std::function<void()> work, std::chrono::microseconds delay) {
  bool wakes = false;
  {
    const std::lock_guard lock(shared_->mutex);
    begin();
    shared_->later = std::move(work);
    shared_->time_of_later = Shared::Clock::now() + delay;
    wakes = std::exchange(shared_->is_asleep, false);
  }
  if (wakes) shared_->changed.notify_all();
}

void InOrderThread::drop_later() {
  std::function<void()> dropped;
  const std::lock_guard lock(shared_->mutex);
  dropped.swap(shared_->later);
}

bool InOrderThread::is_this() const { return current_thread == shared_.get(); }

}  // namespace metalloid::runtime
