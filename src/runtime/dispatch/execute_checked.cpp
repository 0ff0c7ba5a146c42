#include "runtime/dispatch/execute_checked.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "checker/report/source_lines.h"
#include "checker/run/screen.h"
#include "checker/run/watch.h"
#include "metalloid/check.h"
#include "metalloid/error.h"
#include "runtime/compile/kernel_cache.h"
#include "runtime/states.h"
#include "support/zeroed_array.h"

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

// What a dispatch may write, as it was before. Pages of zeros are not copied: large memory that nobody has touched takes
// none.
class Before {
 public:
  explicit Before(const engines::DispatchPlan& plan) {
    for (const engines::BoundArgument& argument : plan.arguments) {
      if (!argument.memory.base || argument.memory.access == Access::read) continue;
      std::byte* address = argument.memory.address();
      support::ZeroedArray<std::byte> copy(argument.memory.size - argument.memory.offset);
      copy_what_differs(copy.data(), address, copy.size());
      copies_.push_back({address, std::move(copy)});
    }
  }
  void restore() const {
    for (const Copy& copy : copies_) copy_what_differs(copy.address, copy.bytes.data(), copy.bytes.size());
  }

 private:
  static void copy_what_differs(std::byte* to, const std::byte* from, std::size_t size) {
    constexpr std::size_t page = 4096;
    for (std::size_t at = 0; at < size; at += page) {
      const std::size_t bytes = std::min(page, size - at);
      if (std::memcmp(to + at, from + at, bytes) != 0) std::memcpy(to + at, from + at, bytes);
    }
  }

  struct Copy {
    std::byte* address;
    support::ZeroedArray<std::byte> bytes;
  };
  std::vector<Copy> copies_;
};

// Runs the dispatch, if that shows that there is nothing to tell; otherwise memory is as it was.
bool is_surely_fine(const Kernel& kernel, const engines::DispatchPlan& plan, const CheckSession::State& session) {
  if (session.options.schedule != 0) return false;  // of an order of its own
  const auto code = find_or_compile_screened(kernel.state(), session.looks_for(CheckClass::not_finite));
  if (!code) return false;
  try {
    const Before before(plan);
    checker::Screen screen(code->info, watched_arguments(plan), grid_of(plan), session.options.strict);
    engines::DispatchPlan screened = plan;
    screened.screen = &screen;
    try {
      code->executable->run(screened);
      return true;
    } catch (const Error& error) {
      before.restore();
      if (error.code() == ErrorCode::kernel_interrupted) throw;
    }
  } catch (const std::bad_alloc&) {
  }
  return false;
}

}  // namespace

void execute_checked(const Kernel& kernel, const engines::DispatchPlan& plan,
                     std::shared_ptr<CheckSession::State> session) {
  if (is_surely_fine(kernel, plan, *session)) {
    session->count_dispatch(/*is_examined=*/false);
    return;
  }
  const auto checked = find_or_compile_checked(kernel.state(), session->looks_for(CheckClass::not_finite));
  checker::SourceLines lines;
  if (const auto& source = kernel.state().source) {
    lines.add(source->name, std::shared_ptr<const std::string>(source, &source->text));
  }
  checker::Watch watch(std::move(session), checked->info, watched_arguments(plan), grid_of(plan), lines);
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
