#include "runtime/dispatch/execute_checked.h"

#include <new>
#include <utility>
#include <vector>

#include "checker/report/source_lines.h"
#include "checker/run/screened_dispatch.h"
#include "checker/run/watch.h"
#include "engines/checked_executable.h"
#include "metalloid/check.h"
#include "metalloid/error.h"
#include "runtime/compile/kernel_cache.h"
#include "runtime/dispatch/staging.h"
#include "runtime/states.h"

namespace metalloid::runtime {
namespace {

std::vector<checker::WatchedArgument> watched_arguments(const engines::DispatchPlan& plan) {
  std::vector<checker::WatchedArgument> arguments;
  for (const engines::BoundArgument& argument : plan.arguments) {
    checker::WatchedArgument& watched = arguments.emplace_back();
    if (argument.threadgroup_bytes != 0) {
      watched.bytes = argument.threadgroup_bytes;
    } else if (argument.memory.base) {
      watched.address = argument.memory.address();
      watched.bytes = argument.memory.size - argument.memory.offset;
      watched.offset = argument.memory.offset;
      watched.is_undefined = argument.is_undefined;
    }
  }
  return arguments;
}

checker::WatchedGrid grid_of(const engines::DispatchPlan& plan) {
  return {plan.threads_per_grid, plan.threadgroups_per_grid, plan.threads_per_threadgroup};
}

const engines::CheckedExecutable& checked_executable(const CompiledKernel& kernel) {
  return dynamic_cast<const engines::CheckedExecutable&>(*kernel.executable);
}

// Runs the dispatch, if that shows that there is nothing to tell; otherwise memory is as it was.
bool is_surely_fine(const CompiledKernel& code, const engines::DispatchPlan& plan, CheckSession::State& session) {
  checker::ScreenedDispatch screen(code.info, watched_arguments(plan), grid_of(plan), session.options.strict,
                                   session.kept_memory);
  try {
    checked_executable(code).run(plan, screen);
    if (screen.is_fine()) return true;
    screen.restore();
  } catch (const Error& error) {
    screen.restore();
    if (error.code() == ErrorCode::kernel_interrupted) throw;
  } catch (const std::bad_alloc&) {
    screen.restore();
  }
  return false;
}

bool is_surely_fine(const Kernel& kernel, const engines::DispatchPlan& plan, CheckSession::State& session) {
  if (session.options.schedule != 0) return false;  // of an order of its own
  const auto code = find_or_compile_screened(kernel.state(), session.looks_for(CheckClass::not_finite));
  if (!code) return false;
  bool is_fine = false;
  run_where_reached(code->info, plan, *code->runner.hardware,
                    [&](const engines::DispatchPlan& reached) { is_fine = is_surely_fine(*code, reached, session); });
  return is_fine;
}

// Runs it, and tells the session what is wrong.
void examine(const Kernel& kernel, const CompiledKernel& code, const engines::DispatchPlan& plan,
             std::shared_ptr<CheckSession::State> session) {
  checker::SourceLines lines;
  if (const auto& source = kernel.state().source) {
    lines.add(source->name, std::shared_ptr<const std::string>(source, &source->text));
  }
  checker::Watch watch(std::move(session), code.info, watched_arguments(plan), grid_of(plan), lines, plan.label);
  try {
    checked_executable(code).run(plan, watch);
  } catch (...) {
    watch.finish();
    throw;
  }
  watch.finish();
}

}  // namespace

void execute_checked(const Kernel& kernel, const engines::DispatchPlan& plan,
                     std::shared_ptr<CheckSession::State> session) {
  if (is_surely_fine(kernel, plan, *session)) {
    session->count_dispatch(/*is_examined=*/false);
    return;
  }
  const auto code = find_or_compile_checked(kernel.state(), session->looks_for(CheckClass::not_finite));
  run_where_reached(code->info, plan, *code->runner.hardware,
                    [&](const engines::DispatchPlan& reached) { examine(kernel, *code, reached, std::move(session)); });
}

}  // namespace metalloid::runtime
