// Running a dispatch now.
#include "engines/registry.h"
#include "metalloid/dispatch.h"
#include "runtime/dispatch/execute.h"
#include "runtime/dispatch/plan.h"
#include "runtime/observe/dispatch_event.h"
#include "runtime/observe/recorder.h"
#include "runtime/states.h"
#include "support/crash_guard.h"

namespace metalloid {

Event runtime::event_of(const Kernel& kernel, const Dispatch& dispatch) {
  return {.kind = Event::Kind::dispatch,
          .device = kernel.state().device->name,
          .kernel = kernel.name(),
          .source = kernel.state().source,
          .grid = dispatch.grid(),
          .threads_per_threadgroup = dispatch.group(),
          .grid_counts_threads = dispatch.grid_counts_threads()};
}

void run(const Kernel& kernel, const Dispatch& dispatch) {
  const support::HostCall call;
  runtime::recorded([&] { return runtime::event_of(kernel, dispatch); },
                    [&] { runtime::execute(kernel, runtime::plan_dispatch(kernel, dispatch)); });
}

void interrupt_kernels() noexcept { engines::interrupt_all(); }

}  // namespace metalloid
