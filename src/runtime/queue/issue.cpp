#include "runtime/queue/issue.h"

#include <exception>
#include <utility>

#include "runtime/dispatch/execute.h"
#include "runtime/states.h"

namespace metalloid::runtime {

engines::Stream& Issue::stream_of(engines::Hardware& hardware) {
  std::unique_ptr<engines::Stream>& stream = streams_[&hardware];
  if (!stream) stream = hardware.make_stream();
  return *stream;
}

void Issue::dispatch(const Kernel& kernel, const engines::DispatchPlan& plan) {
  engines::Hardware& hardware = kernel.state().compiled->engine->hardware();
  // Streams of different hardware know nothing of each other, and what is copied or checked is the host's work.
  const bool is_direct = runs_directly(kernel, plan);
  if (!is_direct || hardware_ != &hardware) drain();
  if (!is_direct) return execute(kernel, plan);
  hardware_ = &hardware;
  under_way_.push_back(stream_of(hardware).enqueue(*kernel.state().compiled->executable, plan));
  if (under_way_.back()->is_done()) drain();
}

void Issue::drain() {
  std::exception_ptr error;
  for (const auto& each : std::exchange(under_way_, {})) {
    each->wait();
    if (!error) error = each->error();
  }
  hardware_ = nullptr;
  if (error) std::rethrow_exception(error);
}

}  // namespace metalloid::runtime
