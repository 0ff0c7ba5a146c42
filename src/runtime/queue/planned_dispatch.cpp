#include "runtime/queue/planned_dispatch.h"

#include <utility>
#include <variant>

#include "runtime/dispatch/execute.h"
#include "runtime/dispatch/plan.h"
#include "runtime/states.h"

namespace metalloid::runtime {

PlannedDispatch::PlannedDispatch(Kernel of, Dispatch with)
    : kernel(std::move(of)),
      dispatch(std::move(with)),
      plan(plan_dispatch(kernel, dispatch)),
      ready(code_at_once(kernel, plan)),
      at_once(ready ? ready->runner.hardware : nullptr) {}

void PlannedDispatch::add_memory(std::vector<Buffer>& memory) const {
  for (const auto& [index, binding] : dispatch.bindings()) {
    if (const auto* buffer = std::get_if<Dispatch::BufferBinding>(&binding)) memory.push_back(buffer->buffer);
    if (const auto* tensor = std::get_if<Dispatch::TensorBinding>(&binding)) memory.push_back(tensor->buffer);
  }
  for (const Dispatch::Use& use : dispatch.uses()) memory.push_back(use.buffer);
}

}  // namespace metalloid::runtime
