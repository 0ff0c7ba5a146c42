// Running dispatches: now, or in order on a queue's own thread.
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "engines/host/watchdog.h"
#include "metalloid/dispatch.h"
#include "runtime/plan.h"
#include "runtime/recorder.h"
#include "runtime/states.h"

namespace metalloid {
namespace {

engines::DispatchPlan plan_for(const Kernel& kernel, const Dispatch& dispatch) {
  return runtime::plan_dispatch(kernel.info(), kernel.max_total_threads_per_threadgroup(), dispatch);
}

Event event_of(const Kernel& kernel, const Dispatch& dispatch) {
  return {.kind = Event::Kind::dispatch,
          .device = kernel.state().device->name,
          .kernel = kernel.name(),
          .source = kernel.state().source,
          .grid = dispatch.grid(),
          .threads_per_threadgroup = dispatch.group(),
          .grid_counts_threads = dispatch.grid_counts_threads()};
}

}  // namespace

void run(const Kernel& kernel, const Dispatch& dispatch) {
  runtime::recorded([&] { return event_of(kernel, dispatch); },
                    [&] { kernel.state().compiled->executable->run(plan_for(kernel, dispatch)); });
}

void interrupt_kernels() noexcept { engines::host::interrupt_watched(); }

struct Submission::State {
  std::function<void()> work;  // holds what the work needs until it is done
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  bool done = false;
  std::exception_ptr error;

  void run() {
    std::exception_ptr thrown;
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
    // Buffers are let go before anybody learns that the work is done.
    work = nullptr;
    {
      std::lock_guard lock(mutex);
      error = thrown;
      done = true;
    }
    changed.notify_all();
  }
};

void Submission::wait() const {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->done; });
  if (state_->error) std::rethrow_exception(state_->error);
}

bool Submission::finished() const {
  std::lock_guard lock(state_->mutex);
  return state_->done;
}

struct Queue::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Submission::State>> waiting;
  bool running = false;  // one has been taken from `waiting` and is not done
  bool closing = false;
  std::exception_ptr first_error;  // since the last wait()
  std::thread thread;

  void work() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return closing || !waiting.empty(); });
      if (waiting.empty()) return;
      auto submission = std::move(waiting.front());
      waiting.pop_front();
      running = true;
      lock.unlock();
      submission->run();
      lock.lock();
      running = false;
      if (submission->error && !first_error) first_error = submission->error;
      changed.notify_all();
    }
  }

  Submission add(std::function<void()> function) {
    auto submission = std::make_shared<Submission::State>();
    submission->work = std::move(function);
    {
      std::lock_guard lock(mutex);
      waiting.push_back(submission);
    }
    changed.notify_all();
    return Submission(std::move(submission));
  }
};

Queue::Queue(Device) : state_(std::make_unique<State>()) {
  state_->thread = std::thread([state = state_.get()] { state->work(); });
}

Queue::~Queue() {
  {
    std::lock_guard lock(state_->mutex);
    state_->closing = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
}

Submission Queue::submit(Kernel kernel, Dispatch dispatch) {
  // The plan points into the dispatch, so both move into one shared place first.
  struct Work {
    Kernel kernel;
    Dispatch dispatch;
    engines::DispatchPlan plan;
  };
  auto work = std::make_shared<Work>(Work{std::move(kernel), std::move(dispatch), {}});
  work->plan = plan_for(work->kernel, work->dispatch);
  return state_->add([work] {
    runtime::recorded([&] { return event_of(work->kernel, work->dispatch); },
                      [&] { work->kernel.state().compiled->executable->run(work->plan); });
  });
}

Submission Queue::submit(std::function<void()> work) { return state_->add(std::move(work)); }

void Queue::wait() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [&] { return state_->waiting.empty() && !state_->running; });
  if (auto error = std::exchange(state_->first_error, nullptr)) std::rethrow_exception(error);
}

}  // namespace metalloid
