#include "runtime/dispatch/timed.h"

#include "runtime/compile/kernel_cache.h"
#include "runtime/dispatch/execute.h"
#include "runtime/dispatch/plan.h"
#include "runtime/states.h"
#include "support/crash_guard.h"

namespace metalloid::runtime {

std::optional<std::chrono::duration<double>> timed_by_hardware(const Kernel& kernel, const engines::DispatchPlan& plan,
                                                               std::uint32_t calls) {
  const support::HostCall call;
  if (!runs_directly(kernel, plan)) return std::nullopt;
  auto taken = code_for(kernel.state(), plan).executable->time(plan, calls);
  if (taken) *taken /= calls;
  return taken;
}

std::optional<std::chrono::duration<double>> timed_by_hardware(const Kernel& kernel, const Dispatch& dispatch,
                                                               std::uint32_t calls) {
  return timed_by_hardware(kernel, plan_dispatch(kernel, dispatch), calls);
}

}  // namespace metalloid::runtime
