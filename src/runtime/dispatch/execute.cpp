#include "runtime/dispatch/execute.h"

#include "checker/session.h"
#include "runtime/dispatch/staging.h"
#include "runtime/states.h"

namespace metalloid::runtime {

void execute(const Kernel& kernel, const engines::DispatchPlan& plan) {
  if (const auto session = checker::active_session()) session->count_dispatch();
  const CompiledKernel& compiled = *kernel.state().compiled;
  engines::Memory& memory = compiled.engine->hardware().memory();
  if (!Staging::is_needed(plan, memory)) return compiled.executable->run(plan);
  Staging staging(plan, memory);
  try {
    compiled.executable->run(staging.plan());
  } catch (...) {
    staging.copy_back();
    throw;
  }
  staging.copy_back();
}

}  // namespace metalloid::runtime
