#include "runtime/queue/planned_dispatch.h"

#include <utility>

#include "runtime/dispatch/execute.h"
#include "runtime/dispatch/plan.h"

namespace metalloid::runtime {

PlannedDispatch::PlannedDispatch(Kernel of, Dispatch with)
    : kernel(std::move(of)),
      dispatch(std::move(with)),
      plan(plan_dispatch(kernel, dispatch)),
      at_once(hardware_at_once(kernel, plan)) {}

}  // namespace metalloid::runtime
