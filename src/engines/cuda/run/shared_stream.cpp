#include "engines/cuda/run/shared_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "engines/cuda/run/messages.h"
#include "engines/cuda/run/report.h"
#include "engines/cuda/run/waiting.h"
#include "metalloid/error.h"
#include "support/watchdog.h"

namespace metalloid::engines::cuda {
namespace {

constexpr unsigned without_timing = 2;
// Kernels that are launched in ever new shapes report with another one's.
constexpr std::size_t most_places = 16;

std::mutex& all_mutex = *new std::mutex;
std::vector<GpuSharedStream*>& all = *new std::vector<GpuSharedStream*>;

}  // namespace

GpuSharedStream::GpuSharedStream(Gpu& gpu, Handle handle) : gpu_(gpu), handle_(handle), own_(gpu.shared_slot()) {
  const auto entered = gpu.enter();
  const OutsideOfCapture outside;
  driver().check(driver().event_create(&behind_endless_, without_timing), "an event");
  const std::lock_guard lock(all_mutex);
  all.push_back(this);
}

GpuSharedStream::~GpuSharedStream() {
  const std::lock_guard lock(all_mutex);
  std::erase(all, this);
}

const GpuSharedStream::Place& GpuSharedStream::place_of(const GpuExecutable& executable, const DispatchPlan& plan) {
  std::vector<Place>& places = places_[&executable];
  const auto found = std::ranges::find_if(places, [&](const Place& place) {
    return place.threads_per_grid == plan.threads_per_grid &&
           place.threads_per_threadgroup == plan.threads_per_threadgroup;
  });
  if (found != places.end()) return *found;
  Place place{&executable, plan.threads_per_grid, plan.threads_per_threadgroup, 0};
  if (places.size() < most_places) {
    place.report = gpu_.shared_slot().report;
    if (executable.logs()) {
      const OutsideOfCapture outside;
      make_room_for_messages(place.report);
    }
    return places.emplace_back(place);
  }
  place.report = places.back().report;
  return places.back() = place;
}

void GpuSharedStream::enqueue(const Executable& executable, const DispatchPlan& plan) {
  const auto entered = gpu_.enter();
  if ((own_.host->is_reported != 0 || stop_.is_made()) && !is_captured(handle_)) synchronize();
  const auto& kernel = static_cast<const GpuExecutable&>(executable);
  const Place& place = place_of(kernel, plan);
  kernel.launch(plan, handle_, {.report = place.report, .host = own_.host});
  last_ = &kernel;
  // Others cannot be stopped, and end.
  if (!kernel.may_not_end()) return;
  if (is_captured(handle_)) {
    timeout_ = std::max(timeout_.load(), plan.timeout);
    return;
  }
  // Of those that have ended nobody asks how long they might have run.
  const bool have_ended = !may_not_end_ || is_success(driver().event_query(behind_endless_));
  timeout_ = have_ended ? plan.timeout : std::max(timeout_.load(), plan.timeout);
  driver().check(driver().event_record(behind_endless_, handle_), "an event");
  may_not_end_ = true;
}

void GpuSharedStream::wait_for(std::uintptr_t other) {
  const auto handle = reinterpret_cast<Handle>(other);
  if (handle == handle_) return;
  const auto entered = gpu_.enter();
  if (!event_) driver().check(driver().event_create(&event_, without_timing), "an event");
  driver().check(driver().event_record(event_, handle), "an event");
  driver().check(driver().stream_wait(handle_, event_, 0), "a wait");
}

bool GpuSharedStream::is_idle() {
  const auto entered = gpu_.enter();
  return !is_captured(handle_) && is_success(driver().stream_query(handle_));
}

void GpuSharedStream::stop() noexcept {
  stop_.make();
  own_.host->stop = 1;
}

bool GpuSharedStream::can_wait() {
  const auto entered = gpu_.enter();
  return !is_captured(handle_);
}

void GpuSharedStream::wait_for_ends() {
  if (!may_not_end_.exchange(false)) return;
  const support::WatchdogTimer timer([this] { stop(); }, timeout_.load());
  wait_until([&] {
    if (is_success(driver().event_query(behind_endless_))) return true;
    if (stop_.is_ignored()) throw_endless(gpu_, last_->info(), timer.interrupted(), timeout_);
    return false;
  });
  if (timer.interrupted()) is_interrupted_ = true;
}

// The driver has no question for that, and waits without end: a thread of its own does, which is left there if need be.
void GpuSharedStream::wait_for_all() {
  const support::WatchdogTimer timer([this] { stop(); }, timeout_.load());
  const auto result = std::make_shared<std::atomic<int>>(not_ready);
  std::thread([result, context = gpu_.context()] {
    const int entered = driver().context_set(context);
    *result = entered == success ? driver().context_wait() : entered;
  }).detach();
  wait_until([&] {
    if (*result != not_ready) return true;
    if (!stop_.is_ignored()) return false;
    if (!timer.interrupted()) throw_endless(gpu_, last_->info(), false, timeout_);
    throw Error(ErrorCode::kernel_interrupted, "the GPU was interrupted, and has not finished what it was given");
  });
  if (*result == not_while_captured) {
    throw Error(ErrorCode::invalid_argument,
                "a stream of the GPU is being captured into a graph; nothing can wait now");
  }
  is_success(*result);
  if (timer.interrupted()) is_interrupted_ = true;
}

// For all of the GPU's streams: the handle may be gone.
void GpuSharedStream::synchronize() {
  const auto entered = gpu_.enter();
  {
    // The driver carries out nothing for other threads while one waits for the whole GPU.
    const std::lock_guard lock(all_mutex);
    for (GpuSharedStream* each : all) {
      if (&each->gpu_ == &gpu_) each->wait_for_ends();
    }
  }
  wait_for_all();
  const auto timeout = timeout_.exchange({});
  const bool is_stopped = stop_.withdraw(), is_interrupted = is_interrupted_.exchange(false);
  own_.host->stop = 0;
  if (!is_stopped && own_.host->is_reported == 0) return;
  own_.host->is_reported = 0;
  std::exception_ptr first;
  for (const auto& [executable, places] : places_) {
    for (const Place& place : places) {
      const ReportedLaunch launch{executable->info(), place.threads_per_grid, place.threads_per_threadgroup};
      if (executable->logs()) deliver_messages(place.report, launch);
      auto error = take_report(place.report, launch);
      if (!first) first = std::move(error);
    }
  }
  if (first) std::rethrow_exception(first);
  if (is_stopped) throw_stopped(last_->info(), is_interrupted, timeout);
}

}  // namespace metalloid::engines::cuda
