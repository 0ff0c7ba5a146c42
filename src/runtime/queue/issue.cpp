#include "runtime/queue/issue.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>

#include "metalloid/check.h"
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
  const auto first = later.dispatches_.begin() + static_cast<std::ptrdiff_t>(later.next_);
  if (dispatches_.empty() && later.next_ == 0) {
    dispatches_ = std::move(later.dispatches_);
  } else {
    std::move(first, later.dispatches_.end(), std::back_inserter(dispatches_));
  }
  if (later.has_times_) add(later.times_);
}

void UnderWay::add(Times times) {
  if (!has_times_) times_.begin = times.begin;
  has_times_ = true;
  times_.end = times.end;
}

bool UnderWay::is_done() const {
  return std::ranges::all_of(std::span(dispatches_).subspan(next_),
                             [](const Dispatch& each) { return each.completion->is_done(); });
}

std::exception_ptr UnderWay::wait() {
  std::exception_ptr first;
  std::vector<Dispatch> all = std::exchange(dispatches_, {});
  for (Dispatch& next : std::span(all).subspan(std::exchange(next_, 0))) {
    const Dispatch each = std::move(next);  // what it keeps goes with it
    each.completion->wait();
    note_end(each, first);
  }
  return first;
}

std::size_t UnderWay::let_go_of_ended(std::size_t most, std::exception_ptr& first_error, std::vector<Buffer>& memory) {
  std::size_t count = 0;
  for (; count < most && next_ < dispatches_.size() && dispatches_[next_].completion->poll(); ++next_, ++count) {
    const Dispatch each = std::move(dispatches_[next_]);
    note_end(each, first_error);
    each.work->add_memory(memory);
  }
  if (next_ > dispatches_.size() / 2) {
    dispatches_.erase(dispatches_.begin(), dispatches_.begin() + static_cast<std::ptrdiff_t>(next_));
    next_ = 0;
  }
  return count;
}

void UnderWay::note_end(const Dispatch& dispatch, std::exception_ptr& first_error) {
  const Times times = dispatch.completion->times();
  add(times);
  if (!first_error) first_error = dispatch.completion->error();
  const bool is_timed = times.begin != Times().begin;  // observed when it began
  if (!is_observed() || !is_timed) return;
  tell(event_of(dispatch.work->kernel, dispatch.work->dispatch), times.begin, times.end, dispatch.completion->error());
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
  const bool is_ready = work->ready && !is_checking();
  const CompiledKernel& code = is_ready ? *work->ready : code_for(kernel.state(), plan);
  engines::Hardware& hardware = *code.runner.hardware;
  // Streams of different hardware know nothing of each other, and what is copied or checked is the host's work.
  const bool is_direct = is_ready || runs_directly(kernel, plan);
  if (!is_direct || hardware_ != &hardware) drain();
  if (!is_direct) {
    return call([&] { recorded([&] { return event_of(kernel, work->dispatch); }, [&] { execute(kernel, plan); }); });
  }
  hardware_ = &hardware;
  last_ = stream_of(hardware).enqueue(*code.executable, plan, engines::Timing::wanted);
  under_way_.add(last_, std::move(work));
  if (last_->is_done()) drain();
}

std::shared_ptr<engines::Completion> Issue::hand_over(const PlannedDispatch& work, engines::Timing timing) {
  hardware_ = work.ready->runner.hardware;
  last_ = stream_of(*hardware_).enqueue(*work.ready->executable, work.plan, timing);
  return last_;
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
