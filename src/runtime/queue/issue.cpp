#include "runtime/queue/issue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "runtime/compile/kernel_cache.h"
#include "runtime/dispatch/execute.h"
#include "runtime/observe/dispatch_event.h"
#include "runtime/observe/recorder.h"
#include "runtime/states.h"

namespace metalloid::runtime {

using Clock = engines::Completion::Clock;

void UnderWay::add(std::shared_ptr<engines::Completion> completion, std::shared_ptr<const PlannedDispatch> work) {
  dispatches_.push_back({std::move(completion), std::move(work)});
}

void UnderWay::add(UnderWay later) {
  if (dispatches_.empty()) {
    dispatches_ = std::move(later.dispatches_);
  } else {
    std::ranges::move(later.dispatches_, std::back_inserter(dispatches_));
  }
  if (later.has_times_) add(later.times_);
}

void UnderWay::add(Times times) {
  if (!has_times_) times_.begin = times.begin;
  has_times_ = true;
  times_.end = times.end;
}

bool UnderWay::is_done() const {
  return std::ranges::all_of(dispatches_, [](const Dispatch& each) { return each.completion->is_done(); });
}

std::exception_ptr UnderWay::wait() {
  std::exception_ptr first;
  for (Dispatch& next : std::exchange(dispatches_, {})) {
    const Dispatch each = std::move(next);  // what it keeps goes with it
    each.completion->wait();
    const Times times = each.completion->times();
    add(times);
    if (!first) first = each.completion->error();
    if (!is_observed()) continue;
    tell(event_of(each.work->kernel, each.work->dispatch), times.begin, times.end, each.completion->error());
  }
  return first;
}

UnderWay::Times UnderWay::times() const {
  const auto now = Clock::now();
  return has_times_ ? times_ : Times{now, now};
}

engines::Stream& Issue::stream_of(engines::Hardware& hardware) {
  std::unique_ptr<engines::Stream>& stream = streams_[&hardware];
  if (!stream) stream = hardware.make_stream();
  return *stream;
}

void Issue::dispatch(std::shared_ptr<const PlannedDispatch> work) {
  const Kernel& kernel = work->kernel;
  const engines::DispatchPlan& plan = work->plan;
  const CompiledKernel& code = code_for(kernel.state(), plan);
  engines::Hardware& hardware = *code.runner.hardware;
  // Streams of different hardware know nothing of each other, and what is copied or checked is the host's work.
  const bool is_direct = runs_directly(kernel, plan);
  if (!is_direct || hardware_ != &hardware) drain();
  if (!is_direct) {
    return call([&] { recorded([&] { return event_of(kernel, work->dispatch); }, [&] { execute(kernel, plan); }); });
  }
  hardware_ = &hardware;
  last_ = stream_of(hardware).enqueue(*code.executable, plan);
  under_way_.add(last_, std::move(work));
  if (last_->is_done()) drain();
}

void Issue::call(const std::function<void()>& work) {
  drain();
  const auto begin = Clock::now();
  work();
  under_way_.add({begin, Clock::now()});
}

void Issue::drain() {
  if (last_) last_->wait();
  last_ = nullptr;
  hardware_ = nullptr;
  if (const auto error = under_way_.wait()) std::rethrow_exception(error);
}

UnderWay Issue::take() { return std::exchange(under_way_, {}); }

}  // namespace metalloid::runtime
