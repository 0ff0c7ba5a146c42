#include "runtime/dispatch/execute.h"

#include "metalloid/check.h"
#include "runtime/compile/kernel_cache.h"
#include "runtime/dispatch/execute_checked.h"
#include "runtime/dispatch/staging.h"
#include "runtime/states.h"

namespace metalloid::runtime {

void execute(const Kernel& kernel, const engines::DispatchPlan& plan) {
  if (is_checking()) {
    if (auto session = checker::active_session()) return execute_checked(kernel, plan, std::move(session));
  }
  const CompiledKernel& compiled = code_for(kernel.state(), plan);
  run_where_reached(compiled.info, plan, *compiled.runner.hardware,
                    [&](const engines::DispatchPlan& reached) { compiled.executable->run(reached); });
}

bool runs_directly(const Kernel& kernel, const engines::DispatchPlan& plan) {
  return !is_checking() && !Staging::is_needed(plan, *code_for(kernel.state(), plan).runner.hardware);
}

const CompiledKernel* code_at_once(const Kernel& kernel, const engines::DispatchPlan& plan) {
  const engines::Hardware* const hardware = kernel.state().compiled->runner.hardware;
  if (hardware->runs_at_call() || is_checking()) return nullptr;
  const CompiledKernel* const code = ready_code_for(kernel.state(), plan);
  return code && code->runner.hardware == hardware && !Staging::is_needed(plan, *hardware) ? code : nullptr;
}

}  // namespace metalloid::runtime
