// What a kernel compiles to, as text or bytes.
#include "metalloid/emit.h"

#include <llvm/IR/Module.h>

#include "ir/assemble.h"
#include "ir/specialise.h"
#include "runtime/guarded_compile.h"
#include "runtime/kernel_lookup.h"
#include "runtime/states.h"

namespace metalloid {

std::string emit_library(const Library& library) {
  std::string text;
  runtime::guarded_compile("all", [&] { text = ir::disassemble(library.state().bitcode); });
  return text;
}

std::string emit(const Library& library, std::string_view name, Emit form, const FunctionConstants& constants) {
  const Library::State& state = library.state();
  const KernelInfo& kernel = runtime::find_kernel(state, name);
  std::string text;
  runtime::guarded_compile(name, [&] {
    ir::KernelModule module = ir::specialise(state.bitcode, state.info, kernel, constants);
    runtime::check_kernel(module.info);
    switch (form) {
      case Emit::ir: text = ir::print(*module.module); break;
      case Emit::assembly: text = state.device->engine->assembly(std::move(module)); break;
      case Emit::object: text = state.device->engine->compile(std::move(module)); break;
    }
  });
  return text;
}

}  // namespace metalloid
