#include "runtime/dispatch/execute_checked.h"

#include <utility>
#include <vector>

#include "checker/report/source_lines.h"
#include "checker/run/watch.h"
#include "metalloid/check.h"
#include "runtime/compile/kernel_cache.h"
#include "runtime/states.h"

namespace metalloid::runtime {

void execute_checked(const Kernel& kernel, const engines::DispatchPlan& plan,
                     std::shared_ptr<CheckSession::State> session) {
  const auto checked = find_or_compile_checked(kernel.state(), session->looks_for(CheckClass::not_finite));
  std::vector<checker::WatchedArgument> arguments;
  for (const engines::BoundArgument& argument : plan.arguments) {
    checker::WatchedArgument& watched = arguments.emplace_back();
    if (argument.threadgroup_bytes != 0) {
      watched.bytes = argument.threadgroup_bytes;
    } else if (argument.memory.base) {
      watched.address = argument.memory.address();
      watched.bytes = argument.memory.size - argument.memory.offset;
      watched.is_undefined = argument.is_undefined;
    }
  }
  checker::SourceLines lines;
  if (const auto& source = kernel.state().source) {
    lines.add(source->name, std::shared_ptr<const std::string>(source, &source->text));
  }
  checker::Watch watch(
      std::move(session), checked->info, std::move(arguments),
      {plan.threads_per_grid, plan.threadgroups_per_grid, plan.threads_per_threadgroup}, lines);
  engines::DispatchPlan watched = plan;
  watched.watch = &watch;
  try {
    checked->executable->run(watched);
  } catch (...) {
    watch.finish();
    throw;
  }
  watch.finish();
}

}  // namespace metalloid::runtime
