#include "runtime/dispatch/execute.h"

#include "metalloid/check.h"
#include "runtime/dispatch/execute_checked.h"
#include "runtime/dispatch/staging.h"
#include "runtime/states.h"

namespace metalloid::runtime {

void execute(const Kernel& kernel, const engines::DispatchPlan& plan) {
  const CompiledKernel& compiled = *kernel.state().compiled;
  engines::Memory& memory = compiled.engine->hardware().memory();
  const bool is_staged = Staging::is_needed(plan, memory);
  if (!is_staged && is_checking()) {
    if (auto session = checker::active_session()) return execute_checked(kernel, plan, std::move(session));
  }
  if (!is_staged) return compiled.executable->run(plan);
  Staging staging(plan, memory);
  try {
    compiled.executable->run(staging.plan());
  } catch (...) {
    staging.copy_back();
    throw;
  }
  staging.copy_back();
}

bool runs_directly(const Kernel& kernel, const engines::DispatchPlan& plan) {
  return !is_checking() && !Staging::is_needed(plan, kernel.state().compiled->engine->hardware().memory());
}

}  // namespace metalloid::runtime
