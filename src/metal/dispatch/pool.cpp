// The threads that carry out work of all queues: as many as there is work for, up to a limit, which end when they have
// had none for a while.
#include <pthread.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "metal/dispatch/work.h"
#include "metal/objc/runtime.h"

namespace metalloid::dispatch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned most_threads = 512;
constexpr std::chrono::seconds patience{5};

struct Call {
  void* context;
  dispatch_function_t function;

  void operator()() const {
    void* pool = objective_c::push_pool();
    function(context);
    objective_c::pop_pool(pool);
  }
};

class Pool {
 public:
  void add(Call call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(call);
    if (idle_ >= calls_.size()) {
      wake_.notify_one();
    } else if (threads_ < most_threads) {
      ++threads_;
      std::thread([this] { serve(); }).detach();
    }
  }

  void add_at(Clock::time_point when, Call call) {
    const std::lock_guard lock(mutex_);
    later_.emplace(when, call);
    if (!std::exchange(has_clock_, true)) std::thread([this] { watch_clock(); }).detach();
    time_changed_.notify_one();
  }

 private:
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ++idle_;
      const bool called = wake_.wait_for(lock, patience, [this] { return !calls_.empty(); });
      --idle_;
      if (!called) break;
      const Call call = calls_.front();
      calls_.pop_front();
      lock.unlock();
      call();
      lock.lock();
    }
    --threads_;
  }

  void watch_clock() {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (later_.empty()) {
        time_changed_.wait(lock);
      } else if (const auto first = later_.begin(); first->first <= Clock::now()) {
        const Call call = first->second;
        later_.erase(first);
        lock.unlock();
        add(call);
        lock.lock();
      } else {
        time_changed_.wait_until(lock, Clock::time_point(first->first));
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, time_changed_;
  std::deque<Call> calls_;
  std::multimap<Clock::time_point, Call> later_;
  unsigned threads_ = 0, idle_ = 0;
  bool has_clock_ = false;
};

Pool* instance = nullptr;

// Threads do not come along into a child, nor does what they had to do.
Pool& pool() {
  static const bool once = [] {
    instance = new Pool;
    pthread_atfork(nullptr, nullptr, [] { instance = new Pool; });
    return true;
  }();
  static_cast<void>(once);
  return *instance;
}

}  // namespace

void on_some_thread(void* context, dispatch_function_t function) { pool().add({context, function}); }

void on_some_thread_at(Clock::time_point when, void* context, dispatch_function_t function) {
  pool().add_at(when, {context, function});
}

}  // namespace metalloid::dispatch
