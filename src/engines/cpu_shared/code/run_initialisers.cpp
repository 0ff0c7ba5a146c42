// Constants whose initialisers LLVM's evaluator cannot do (loops, functions of the C library) are computed by running
// them here, in the process that compiles the kernel.
#include <fmt/format.h>
#include <llvm/IR/Module.h>

#include <cstring>

#include "engines/cpu_shared/code/loader.h"
#include "engines/cpu_shared/code/machine.h"
#include "engines/cpu_shared/code/relax_alignment.h"
#include "ir/passes/initialisers.h"
#include "metalloid/error.h"
#include "support/crash_guard.h"

namespace metalloid::engines::cpu {
namespace {

ir::InitialiserRun run_once(const LoadedCode& code, const ir::InitialiserProgram& program,
                            const std::vector<std::size_t>& sizes, const std::vector<std::string>& names) {
  ir::InitialiserRun result;
  for (std::size_t i = 0; i < program.functions.size(); ++i) {
    auto* function = reinterpret_cast<void (*)()>(code.find(program.functions[i]));
    const auto outcome = support::run_guarded([&] { function(); });
    if (!outcome.finished()) {
      const auto line = code.source_line(outcome.instruction);
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} cannot be computed: its initializer crashed: {}{}", program.descriptions[i],
                              outcome.description(), line ? " at " + *line : std::string()));
    }
  }
  for (std::size_t i = 0; i < program.globals.size(); ++i) {
    const auto* first = static_cast<const std::uint8_t*>(code.find(program.globals[i]));
    result.bytes.emplace_back(first, first + sizes[i]);
  }
  for (const std::string& name : names) {
    result.places.emplace_back(name, reinterpret_cast<std::uint64_t>(code.find(name)));
  }
  return result;
}

std::vector<ir::InitialiserRun> run_initialisers(ir::InitialiserProgram program) {
  llvm::Module& module = *program.module;
  auto machine = make_machine();
  std::vector<std::size_t> sizes;
  for (const std::string& name : program.globals) {
    sizes.push_back(module.getDataLayout().getTypeAllocSize(module.getNamedGlobal(name)->getValueType()));
  }
  std::vector<std::string> names;
  for (const llvm::GlobalObject& object : module.global_objects()) {
    if (!object.isDeclaration()) names.push_back(object.getName().str());
  }
  relax_alignment(module);
  retarget(module, *machine);
  optimise(module, *machine);
  const std::string object = emit(module, *machine, CodeForm::loadable, program.descriptions.front());
  try {
    const LoadedCode first(object, nullptr), second(object, nullptr);
    return {run_once(first, program, sizes, names), run_once(second, program, sizes, names)};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    throw Error(error.code(), fmt::format("{} cannot be computed: {}", program.descriptions.front(), error.what()));
  }
}

[[maybe_unused]] const bool registered = [] {
  ir::set_initialiser_runner(run_initialisers);
  return true;
}();

}  // namespace
}  // namespace metalloid::engines::cpu
