// Running dispatches: now, or in order on a queue's own thread.
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "engines/registry.h"
#include "metalloid/dispatch.h"
#include "metalloid/error.h"
#include "runtime/dispatch/execute.h"
#include "runtime/dispatch/plan.h"
#include "runtime/observe/recorder.h"
#include "runtime/states.h"
#include "support/crash_guard.h"

namespace metalloid {
namespace {

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
  const support::HostCall call;
  runtime::recorded([&] { return event_of(kernel, dispatch); },
                    [&] { runtime::execute(kernel, runtime::plan_dispatch(kernel, dispatch)); });
}

void interrupt_kernels() noexcept { engines::interrupt_all(); }

namespace {

// Of the queue whose work this thread does.
thread_local const void* current_queue = nullptr;

// A forked child has the parent's queues without their threads.
class Process {
 public:
  bool is_this() const { return id_ == ::getpid(); }
  void require(std::string_view what) const {
    if (is_this()) return;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} of a queue that was made before fork(): its thread is in the parent process", what));
  }

 private:
  pid_t id_ = ::getpid();
};

}  // namespace

struct Submission::State {
  std::function<void()> work;  // holds what the work needs until it is done
  const void* queue = nullptr;
  Process process;
  mutable std::mutex mutex;
  mutable std::condition_variable changed;
  std::atomic<bool> done{false};
  std::exception_ptr error;  // before done

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
  if (!state_->done) {
    state_->process.require("a submission");
    if (state_->queue == current_queue) {
      throw Error(ErrorCode::invalid_argument,
                  "a queue's work waits for a submission to the same queue, which comes after it or is itself");
    }
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return state_->done.load(); });
  }
  if (state_->error) std::rethrow_exception(state_->error);
}

bool Submission::finished() const { return state_->done; }

namespace {

// What a queue and its thread share: the thread may outlive the queue.
struct Line {
  Process process;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Submission::State>> waiting;
  bool running = false;  // one has been taken from `waiting` and is not done
  bool closing = false;
  std::exception_ptr first_error;  // since the last wait()
  std::thread thread;

  void work() {
    current_queue = this;
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
    process.require("work");
    auto submission = std::make_shared<Submission::State>();
    submission->work = std::move(function);
    submission->queue = this;
    {
      std::lock_guard lock(mutex);
      waiting.push_back(submission);
    }
    changed.notify_all();
    return Submission(std::move(submission));
  }
};

}  // namespace

struct Queue::State {
  Device device;
  std::shared_ptr<Line> line = std::make_shared<Line>();
};

Queue::Queue(Device device) : state_(std::make_unique<State>(State{device})) {
  state_->line->thread = std::thread([line = state_->line] { line->work(); });
}

Queue::~Queue() {
  Line& line = *state_->line;
  if (!line.process.is_this()) {
    // No thread to wait for, and a mutex that may be locked for ever: what is left stays as it is.
    static_cast<void>(state_.release());
    return;
  }
  {
    std::lock_guard lock(line.mutex);
    line.closing = true;
  }
  line.changed.notify_all();
  if (line.thread.get_id() == std::this_thread::get_id()) {
    line.thread.detach();  // its own work let the queue go: the thread does the rest and ends
  } else {
    line.thread.join();
  }
}

Submission Queue::submit(Kernel kernel, Dispatch dispatch) {
  if (kernel.device() != state_->device) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("kernel '{}' was made for device '{}'; the queue is of device '{}'", kernel.name(),
                            kernel.device().name(), state_->device.name()));
  }
  // The plan points into the dispatch, so both move into one shared place first.
  struct Work {
    Kernel kernel;
    Dispatch dispatch;
    engines::DispatchPlan plan;
  };
  auto work = std::make_shared<Work>(Work{std::move(kernel), std::move(dispatch), {}});
  work->plan = runtime::plan_dispatch(work->kernel, work->dispatch);
  return state_->line->add([work] {
    runtime::recorded([&] { return event_of(work->kernel, work->dispatch); },
                      [&] { runtime::execute(work->kernel, work->plan); });
  });
}

Submission Queue::submit(std::function<void()> work) { return state_->line->add(std::move(work)); }

void Queue::wait() {
  Line& line = *state_->line;
  line.process.require("wait()");
  if (current_queue == &line) {
    throw Error(ErrorCode::invalid_argument,
                "a queue's work calls wait() of the same queue, and would wait for itself");
  }
  std::unique_lock lock(line.mutex);
  line.changed.wait(lock, [&] { return line.waiting.empty() && !line.running; });
  if (auto error = std::exchange(line.first_error, nullptr)) std::rethrow_exception(error);
}

}  // namespace metalloid
