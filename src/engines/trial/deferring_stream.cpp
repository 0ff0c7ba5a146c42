#include "engines/trial/deferring_stream.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace metalloid::engines::trial {
namespace {

// Long enough that who does not wait finds nothing done.
constexpr auto delay = std::chrono::microseconds(100);

class DeferringStream final : public Stream {
 public:
  DeferringStream() : thread_([this] { work(); }) {}
  ~DeferringStream() override {
    {
      const std::lock_guard lock(mutex_);
      is_closing_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  std::shared_ptr<Completion> enqueue(const Executable& executable, const DispatchPlan& plan,
                                      Timing /*timing*/) override {
    auto completion = std::make_shared<Completion>();
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back({static_cast<const DeferredExecutable*>(&executable), plan, completion});
    }
    changed_.notify_all();
    return completion;
  }

 private:
  struct Work {
    const DeferredExecutable* executable;
    DispatchPlan plan;
    std::shared_ptr<Completion> completion;

    void carry_out() const {
      std::exception_ptr error;
      const auto begin = Completion::Clock::now();
      try {
        executable->run_now(plan);
      } catch (...) {
        error = std::current_exception();
      }
      completion->finish({begin, Completion::Clock::now()}, std::move(error));
    }
  };

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return is_closing_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const Work next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      std::this_thread::sleep_for(delay);
      next.carry_out();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> waiting_;
  bool is_closing_ = false;
  std::thread thread_;  // last: it uses the others
};

class DeferringSharedStream final : public SharedStream {
 public:
  ~DeferringSharedStream() override {
    for (const Work& work : given_) work.completion->wait();
  }

  void enqueue(const Executable& executable, const DispatchPlan& plan) override {
    take_done();
    throw_first();
    Work& work = given_.emplace_back();
    DispatchPlan own = plan;
    for (BoundArgument& argument : own.arguments) {
      BoundMemory& memory = argument.memory;
      if (memory.owner != BoundMemory::Owner::dispatch) continue;
      memory.base = work.bytes.emplace_back(memory.base, memory.base + memory.size).data();
    }
    work.completion = stream_.enqueue(executable, own, Timing::none);
  }
  void wait_for(std::uintptr_t /*other*/) override {}  // it has nothing to do
  bool is_idle() override {
    take_done();
    return given_.empty();
  }
  void synchronize() override {
    for (const Work& work : given_) work.completion->wait();
    take_done();
    throw_first();
  }

 private:
  struct Work {
    std::shared_ptr<Completion> completion;
    std::vector<std::vector<std::byte>> bytes;
  };

  void take_done() {
    while (!given_.empty() && given_.front().completion->is_done()) {
      if (!first_) first_ = given_.front().completion->error();
      given_.pop_front();
    }
  }
  void throw_first() {
    if (auto error = std::exchange(first_, nullptr)) std::rethrow_exception(error);
  }

  std::deque<Work> given_;
  std::exception_ptr first_;
  DeferringStream stream_;
};

}  // namespace

std::unique_ptr<SharedStream> make_deferring_shared_stream() { return std::make_unique<DeferringSharedStream>(); }

std::unique_ptr<Stream> make_deferring_stream() { return std::make_unique<DeferringStream>(); }

}  // namespace metalloid::engines::trial
