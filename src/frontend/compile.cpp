#include "frontend/frontend.h"

#include <algorithm>
#include <memory>
#include <optional>

#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include "frontend/code/code_generation.h"
#include "frontend/files/source_files.h"
#include "frontend/reflection/kernel_instantiations.h"
#include "frontend/reflection/kernel_uses.h"
#include "frontend/reflection/reflection.h"
#include "frontend/session/effort_limit.h"
#include "frontend/session/session.h"
#include "frontend/source_rules.h"
#include "ir/bounds/thread_overruns.h"
#include "support/last_work.h"

namespace metalloid::frontend {
namespace {

std::string to_bitcode(const llvm::Module& module) {
  std::string bitcode;
  llvm::raw_string_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(module, stream);
  return bitcode;
}

LibraryInfo library_info(Reflection reflection) {
  LibraryInfo info;
  for (auto& kernel : reflection.kernels) info.kernels.push_back(std::move(kernel.info));
  for (auto& [constant, declaration] : reflection.function_constants) {
    info.function_constants.push_back(std::move(constant));
  }
  info.unsupported = std::move(reflection.unsupported);
  return info;
}

// With code, or with the reason why there is none.
bool tells_of(const LibraryInfo& info, const std::string& kernel) {
  return std::any_of(info.kernels.begin(), info.kernels.end(),
                     [&](const KernelInfo& each) { return each.name == kernel && !each.symbol.empty(); }) ||
         std::any_of(info.unsupported.begin(), info.unsupported.end(),
                     [&](const UnsupportedFunction& each) { return each.name == kernel; });
}

// The whole way from source to library.
Result compile_in(Session& session, const CompileOptions& options, const KernelSelection& selection,
                  const tokens::Reading& reading) {
  const auto check = [&](bool succeeded) {
    if (!succeeded || session.diagnostics().error_count() != 0) {
      throw Error(ErrorCode::compile_error, session.diagnostics().text());
    }
  };
  const KernelUses kernel_uses;
  const KernelInstantiations instantiations(session, selection);
  const bool parsed = session.parse(reading);
  if (session.lacks_async_copy()) return {};
  check(parsed);
  kernel_uses.check(session);
  Reflection reflection = reflect(session);
  check_source_rules(session, options.language);  // with what templates became for the kernels' arguments
  check(true);
  Result result;
  result.is_complete = selection.kind != KernelSelection::Kind::some && instantiations.is_done();
  if (instantiations.is_done()) {
    llvm::LLVMContext context;
    const std::unique_ptr<llvm::Module> module = generate_code(session, reflection, instantiations, context);
    check(module != nullptr);
    if (options.thread_overruns == ThreadOverruns::ignore) ir::ignore_thread_overruns(*module);
    result.library.bitcode = to_bitcode(*module);
  }
  result.library.info = library_info(std::move(reflection));
  result.library.warnings = session.diagnostics().text();
  result.dependencies = session.files().dependencies();
  return result;
}

}  // namespace

Result compile(std::string_view source, const CompileOptions& options, std::string_view prelude,
               const KernelSelection& selection) {
  std::unique_ptr<Session, support::DeleteUnlessEnding> session;
  const auto read = [&](const tokens::Reading& reading) {
    session = std::make_unique<Session>(source, options, prelude);
    Result result = compile_in(*session, options, selection, reading);
    if (session->lacks_async_copy()) {
      session = std::make_unique<Session>(source, options, prelude, true);
      result = compile_in(*session, options, selection, reading);
    }
    return result;
  };
  try {
    if (selection.kind != KernelSelection::Kind::all) {
      const bool is_part = selection.kind == KernelSelection::Kind::some;
      tokens::Reading reading;
      if (is_part) {
        reading.wanted = {selection.kernel, selection.following};
      } else {
        reading.instantiations = few_instantiations;
      }
      // What is wrong is said of the whole source.
      try {
        Result result = read(reading);
        if (!is_part || !session->left_something_out() || tells_of(result.library.info, selection.kernel)) {
          return result;
        }
      } catch (const Error&) {
        if (!session->left_something_out()) throw;
      }
    }
    return read({});
  } catch (const EffortExceeded& exceeded) {
    [[maybe_unused]] Session* abandoned = session.release();  // half-built: Clang was left in the middle
    throw Error(ErrorCode::compile_error, options.source_name + ": error: " + exceeded.reason + "\n");
  }
}

bool are_current(const std::vector<Dependency>& dependencies, const CompileOptions& options) {
  if (dependencies.empty()) return true;
  SourceFiles files(options, {});
  return std::all_of(dependencies.begin(), dependencies.end(),
                     [&](const Dependency& dependency) { return files.is_current(dependency); });
}

}  // namespace metalloid::frontend
