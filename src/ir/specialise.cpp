#include "ir/specialise.h"

#include <fmt/format.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "ir/passes/check_operations.h"
#include "ir/passes/copy_bools.h"
#include "ir/passes/fix_numeric_semantics.h"
#include "ir/passes/fold_function_constants.h"
#include "ir/passes/guard_powers.h"
#include "ir/passes/infer_address_spaces.h"
#include "ir/passes/inline_functions.h"
#include "ir/passes/join_loops.h"
#include "ir/passes/know_constants.h"
#include "ir/passes/mark_constants.h"
#include "ir/passes/mark_tables.h"
#include "ir/passes/normalise_attributes.h"
#include "ir/passes/place_turn_ends.h"
#include "ir/passes/private_names.h"
#include "ir/passes/refuse_unsupported.h"
#include "ir/passes/resolve_indirect_calls.h"
#include "ir/passes/select_kernel.h"
#include "ir/passes/simplify.h"
#include "ir/passes/take_operations.h"
#include "ir/passes/thread_variables.h"
#include "ir/passes/threadgroup_addresses.h"
#include "ir/passes/threadgroup_variables.h"
#include "metalloid/error.h"
#include "support/quiet_writes.h"

namespace metalloid::ir {
namespace {

bool dump_wanted(std::string_view pass) {
  const char* variable = std::getenv("METALLOID_DUMP");
  if (!variable) return false;
  std::string_view list = variable;
  while (!list.empty()) {
    std::size_t comma = list.find(',');
    std::string_view item = list.substr(0, comma);
    if (item == "all" || (item.starts_with("after:") && item.substr(6) == pass)) return true;
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return false;
}

void verify(const KernelModule& kernel) {
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  if (llvm::verifyModule(*kernel.module, &stream)) {
    throw Error(ErrorCode::internal, fmt::format("invalid code for kernel '{}': {}", kernel.info.name, problems));
  }
}

void instrument(KernelModule& kernel, const Instrumentation& instrumentation,
                const std::function<void(KernelModule&)>& run) {
  run(kernel);
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  if (!llvm::verifyModule(*kernel.module, &stream)) return;
  throw Error(ErrorCode::internal, fmt::format("invalid code from the instrumentation '{}' of kernel '{}': {}",
                                               instrumentation.name, kernel.info.name, problems));
}

// ggml's hosts give no length to threadgroup memory that the chosen variant of a kernel leaves alone, and MLX's bind no
// buffer there: none is needed.
void note_unused_arguments(KernelModule& kernel) {
  const llvm::Function* function = kernel.module->getFunction(kernel.info.symbol);
  if (!function || function->arg_size() != kernel.info.arguments.size()) return;
  for (unsigned i = 0; i < function->arg_size(); ++i) {
    if (!function->getArg(i)->use_empty()) continue;
    ArgumentInfo& argument = kernel.info.arguments[i];
    if (argument.kind == ArgumentKind::threadgroup_memory) argument.is_active = false;
    if (argument.kind == ArgumentKind::buffer) argument.is_used = false;
  }
}

}  // namespace

void dump_after(std::string_view pass, const llvm::Module& module) {
  if (!dump_wanted(pass)) return;
  // Not llvm::errs(), which ends the process if standard error is full.
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "; ---- after " << llvm::StringRef(pass) << "\n" << module << "\n";
  support::write_to_standard_error(text);
}

KernelModule specialise(std::string_view bitcode, const LibraryInfo& library, const KernelInfo& info,
                        const FunctionConstants& constants, const SpecialiseOptions& options) {
  KernelModule kernel = select_kernel(bitcode, info);
  auto pass = [&](std::string_view name, auto&& run) {
    run();
    dump_after(name, *kernel.module);
  };
  dump_after("select_kernel", *kernel.module);
  pass("take_operations", [&] { take_operations(*kernel.module, options.whole); });
  const LibraryInfo renamed = make_names_private(kernel, library);
  pass("normalise_attributes", [&] { normalise_attributes(*kernel.module); });
  pass("fix_numeric_semantics", [&] { fix_numeric_semantics(*kernel.module); });
  pass("fold_function_constants", [&] { fold_function_constants(kernel, renamed, constants); });
  pass("refuse_unsupported", [&] { refuse_unsupported(kernel); });
  pass("resolve_indirect_calls", [&] { resolve_indirect_calls(*kernel.module); });
  pass("place_threadgroup_addresses", [&] { place_threadgroup_addresses(kernel); });
  pass("place_turn_ends", [&] { place_turn_ends(*kernel.module); });
  // Up to here each access of the source is an instruction of its own; from here on passes merge, move and delete.
  const auto run_instrumentation = [&](std::string_view name, auto member) {
    if (!options.instrumentation || !((*options.instrumentation).*member)) return;
    pass(name, [&] { instrument(kernel, *options.instrumentation, (*options.instrumentation).*member); });
  };
  run_instrumentation("instrument", &Instrumentation::run);
  pass("inline_functions", [&] { inline_functions(kernel, options.inlining); });
  pass("copy_bools", [&] { copy_bools(*kernel.module); });
  pass("place_thread_variables", [&] { place_thread_variables(kernel); });
  pass("infer_address_spaces", [&] { infer_address_spaces(*kernel.module); });
  run_instrumentation("instrument_inlined", &Instrumentation::run_inlined);
  pass("mark_constants", [&] { mark_constants(*kernel.module); });
  pass("guard_powers", [&] { guard_powers(*kernel.module); });
  if (!options.instrumentation) {  // there threads go on after an access outside
    pass("know_constants", [&] { know_constants(*kernel.module); });
    pass("mark_tables", [&] { mark_tables(*kernel.module); });
  }
  pass("simplify", [&] { simplify(*kernel.module); });
  pass("join_loops", [&] { join_loops(*kernel.module); });
  require_function_constants(kernel, renamed);
  verify(kernel);
  check_operations(kernel, options.instrumentation ? options.instrumentation->operations : std::vector<std::string>());
  note_unused_arguments(kernel);
  kernel.info.static_threadgroup_memory = lay_out_threadgroup_variables(*kernel.module).size;
  return kernel;
}

}  // namespace metalloid::ir
