// What a kernel compiles to, as text or bytes, and what its code does.
#include "metalloid/emit.h"

#include <utility>

#include "metalloid/work.h"
#include "runtime/compile/compile_jobs.h"
#include "runtime/compile/kernel_lookup.h"
#include "runtime/compile/library_cache.h"
#include "runtime/states.h"

namespace metalloid {

std::string emit_library(const Library& library) {
  const Library::State& state = library.state();
  const runtime::LibraryCode code = runtime::whole_code(state);
  return runtime::disassemble_library(code.bitcode, state.source->name);
}

namespace {

// Calls `carry_out` with what the functions of compile_jobs.h take of a library and its kernel.
template <typename Job>
auto with_code(const Library& library, std::string_view name, Job carry_out) {
  const Library::State& state = library.state();
  const auto limits = runtime::limits_of(state);
  const runtime::LibraryCode code = runtime::code_with(state, runtime::find_kernel(state.info, name).name, limits);
  const KernelInfo& kernel = runtime::find_kernel(*code.info, name);
  return carry_out(code.bitcode, *code.info, kernel, runtime::candidates_of(state.device->runners), limits);
}

}  // namespace

std::string emit(const Library& library, std::string_view name, Emit form, const FunctionConstants& constants) {
  return with_code(library, name, [&](const auto& bitcode, auto& info, auto& kernel, auto candidates, auto& limits) {
    return runtime::compile_kernel(bitcode, info, kernel, constants, std::move(candidates), limits, form).code;
  });
}

Work work_of(const Library& library, std::string_view name, const FunctionConstants& constants) {
  return with_code(library, name, [&](const auto& bitcode, auto& info, auto& kernel, auto candidates, auto& limits) {
    return runtime::count_work(bitcode, info, kernel, constants, std::move(candidates), limits);
  });
}

}  // namespace metalloid
