// What a kernel compiles to, as text or bytes.
#include "metalloid/emit.h"

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

std::string emit(const Library& library, std::string_view name, Emit form, const FunctionConstants& constants) {
  const Library::State& state = library.state();
  const auto limits = runtime::limits_of(state);
  const runtime::LibraryCode code = runtime::code_with(state, runtime::find_kernel(state.info, name).name, limits);
  const KernelInfo& kernel = runtime::find_kernel(*code.info, name);
  return runtime::compile_kernel(code.bitcode, *code.info, kernel, constants, state.device->engines, limits, form).code;
}

}  // namespace metalloid
