#include "runtime/guarded_compile.h"

#include <fmt/format.h>

#include "ir/fatal_errors.h"
#include "metalloid/error.h"
#include "support/crash_guard.h"

namespace metalloid::runtime {

void guarded_compile(std::string_view kernel, support::function_ref<void()> work) {
  constexpr std::size_t stack_bytes = std::size_t{64} << 20;
  ir::keep_fatal_errors();
  auto outcome = support::run_on_large_stack(work, stack_bytes);
  if (outcome.finished()) return;
  std::string reason = ir::take_fatal_error();
  throw Error(ErrorCode::internal, fmt::format("the compiler crashed on kernel '{}': {}", kernel,
                                               reason.empty() ? outcome.description() : reason));
}

}  // namespace metalloid::runtime
