#include "runtime/queue/shared_stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "metalloid/check.h"
#include "metalloid/error.h"
#include "runtime/compile/kernel_cache.h"
#include "runtime/dispatch/argument_pointers.h"
#include "runtime/dispatch/execute.h"
#include "runtime/dispatch/plan.h"
#include "runtime/dispatch/staging.h"
#include "runtime/observe/dispatch_event.h"
#include "runtime/observe/recorder.h"
#include "runtime/states.h"
#include "support/crash_guard.h"

namespace metalloid::runtime {
namespace {

using engines::BoundMemory;

// The host's memory that the kernel only reads becomes bytes of the dispatch, which are copied when it is enqueued.
void take_along(const KernelInfo& kernel, engines::DispatchPlan& plan, const engines::Hardware& hardware) {
  if (std::ranges::any_of(kernel.arguments, holds_pointers)) return;  // such addresses are the host's work
  for (engines::BoundArgument& argument : plan.arguments) {
    BoundMemory& memory = argument.memory;
    if (memory.owner != BoundMemory::Owner::buffer || !memory.base || memory.access != Access::read) continue;
    if (hardware.can_reach(*memory.memory) || !memory.memory->host_can_reach() || !argument.descriptor.empty())
      continue;
    memory.base += memory.offset;
    memory.size -= memory.offset;
    memory.offset = 0;
    memory.named_begin = 0;
    memory.named_end = memory.size;
    memory.owner = BoundMemory::Owner::dispatch;
  }
}

}  // namespace

SharedStream::SharedStream(const Device& device, std::uintptr_t native)
    : hardware_(*device.state().runners.front().hardware), stream_(hardware_.share_stream(native)) {
  if (stream_) return;
  throw Error(ErrorCode::unsupported,
              fmt::format("device '{}' has no streams that others can make and share with it", device.name()));
}

void SharedStream::keep(const Kernel& kernel) {
  const Kernel::State* const state = &kernel.state();
  if (!kernels_.contains(state)) kernels_.emplace(state, kernel);
}

void SharedStream::dispatch(const Kernel& kernel, const Dispatch& dispatch) {
  const support::HostCall call;
  const auto describe = [&] { return event_of(kernel, dispatch); };
  recorded(describe, [&] {
    engines::DispatchPlan plan = plan_dispatch(kernel, dispatch);
    const CompiledKernel& code = code_for(kernel.state(), plan);
    const bool is_here = code.runner.hardware == &hardware_ && !is_checking();
    if (is_here) take_along(code.info, plan, hardware_);
    const std::lock_guard lock(mutex_);
    if (!is_here || Staging::is_needed(plan, hardware_)) {
      if (!stream_->can_wait()) {
        throw Error(
            ErrorCode::invalid_argument,
            fmt::format("kernel '{}' writes to memory of the host, or is checked, which waits for its stream; and "
                        "that is being captured into a graph",
                        kernel.name()));
      }
      stream_->synchronize();
      return execute(kernel, plan);
    }
    keep(kernel);
    stream_->enqueue(*code.executable, plan);
  });
}

void SharedStream::wait_for(std::uintptr_t native) {
  const std::lock_guard lock(mutex_);
  stream_->wait_for(native);
}

bool SharedStream::is_idle() {
  const std::lock_guard lock(mutex_);
  return stream_->is_idle();
}

void SharedStream::synchronize() {
  const std::lock_guard lock(mutex_);
  stream_->synchronize();
}

}  // namespace metalloid::runtime
