#include "runtime/compile/compile_jobs.h"

#include <fmt/format.h>

#include <ctime>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "checker/code/instrument.h"
#include "engines/registry.h"
#include "frontend/session/prelude.h"
#include "ir/assemble.h"
#include "ir/specialise.h"
#include "ir/work.h"
#include "isolation/isolate.h"
#include "metalloid/error.h"
#include "metalloid/preprocess.h"
#include "runtime/cache/disk_cache.h"
#include "runtime/cache/entry_turn.h"
#include "runtime/compile/archive.h"
#include "runtime/compile/kernel_lookup.h"
#include "runtime/compile/request_archive.h"
#include "support/build_id.h"
#include "support/fork_safe_mutex.h"
#include "support/hash.h"

namespace metalloid {
namespace runtime {
namespace {

enum class Task : std::uint8_t { prelude, library, kernel, disassembly, preprocessing };

// Options of the library are all that a prelude depends on.
struct LibraryRequest {
  CompileOptions options;
  std::string source;
  frontend::KernelSelection selection;
};

template <typename Archive>
void archive(Archive& bytes, LibraryRequest& request) {
  archive_all(bytes, request.options, request.source, request.selection.kind, request.selection.kernel,
              request.selection.following);
}

struct PreprocessRequest {
  PreprocessOptions options;
  std::string source;
};

template <typename Archive>
void archive(Archive& bytes, PreprocessRequest& request) {
  PreprocessOptions& options = request.options;
  archive_all(bytes, options.compile, options.line_marks, options.comments, options.macro_comments,
              options.definitions_only, request.source);
}

struct KernelRequest {
  std::vector<Candidate> candidates;
  Emit form = Emit::object;
  bool counts_work = false;  // instead of code
  Checks checks = Checks::none;
  std::string bitcode;
  LibraryInfo library;  // without its kernels
  KernelInfo kernel;
  FunctionConstants constants;
};

template <typename Archive>
void archive(Archive& bytes, KernelRequest& request) {
  archive_all(bytes, request.candidates, request.form, request.counts_work, request.checks, request.bitcode,
              request.library, request.kernel, request.constants);
}

template <typename T>
T read(Reader& reader) {
  T value;
  archive(reader, value);
  return value;
}

template <typename T>
T read(const support::SharedBytes& bytes) {
  Reader reader(bytes.view());
  return read<T>(reader);
}

template <typename T>
std::string write(T value) {
  Writer writer;
  archive(writer, value);
  return writer.take();
}

template <typename T>
std::string request_for(Task task, T request) {
  Writer writer;
  archive(writer, task);
  archive(writer, request);
  return writer.take();
}

CompiledCode perform_kernel(const KernelRequest& request) {
  CompiledCode result;
  for (const Candidate& candidate : request.candidates) {
    const engines::Engine& engine = engines::engine_named(candidate.engine);
    ir::SpecialiseOptions options{.inlining = engine.inline_policy()};
    if (request.checks != Checks::none) {
      options.inlining.even_noinline = true;  // addresses are followed to where they come from
      options.instrumentation = checker::instrumentation(
          {.finite = request.checks == Checks::with_finite, .tells = engine.check_role() == engines::CheckRole::tells});
    } else if (!request.counts_work) {
      options.whole = engine.operation_policy(candidate.target);
    }
    ir::KernelModule module =
        ir::specialise(request.bitcode, request.library, request.kernel, request.constants, options);
    check_kernel(module.info, candidate.limits);
    result.info = module.info;
    result.engine = candidate.engine;
    if (request.counts_work) {
      Work work = ir::work_of(*module.module->getFunction(module.info.symbol));
      Writer bytes;
      archive(bytes, work);
      result.code = bytes.take();
      return result;
    }
    if (request.form == Emit::ir) {
      result.code = ir::print(*module.module);
      return result;
    }
    const auto form = request.form == Emit::object ? engines::CodeForm::loadable : engines::CodeForm::text;
    engines::Compilation compiled = engine.compile(std::move(module), form, candidate.target);
    for (Remark& remark : compiled.remarks) {
      remark.engine = candidate.engine;
      result.remarks.push_back(std::move(remark));
    }
    if (compiled.code) {
      result.code = std::move(*compiled.code);
      return result;
    }
  }
  std::string reasons;
  for (const Remark& remark : result.remarks) reasons += fmt::format("; engine {}: {}", remark.engine, remark.reason);
  throw Error(ErrorCode::unsupported, fmt::format("no engine takes kernel '{}'{}", request.kernel.name, reasons));
}

// Microseconds, of this thread.
std::uint64_t processor_time() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000;
}

// In the compiler's process. The attachment is the prelude.
std::string perform(std::string_view bytes, std::string_view attachment) {
  Reader reader(bytes);
  switch (read<Task>(reader)) {
    case Task::prelude: return frontend::make_prelude(read<CompileOptions>(reader));
    case Task::library: {
      const auto request = read<LibraryRequest>(reader);
      const std::uint64_t before = processor_time();
      frontend::Result result = frontend::compile(request.source, request.options, attachment, request.selection);
      result.processor_time = processor_time() - before;
      return write(std::move(result));
    }
    case Task::kernel: return write(perform_kernel(read<KernelRequest>(reader)));
    case Task::disassembly: return ir::disassemble(read<std::string>(reader));
    case Task::preprocessing: {
      const auto request = read<PreprocessRequest>(reader);
      return write(frontend::preprocess(request.source, request.options, attachment));
    }
  }
  throw Error(ErrorCode::internal, "a request that the compiler does not know");
}

// Precompiled standard libraries of this process, by key. Threads that want the same one at the same time make it
// twice.
class Preludes {
 public:
  using Prelude = std::shared_ptr<const support::SharedBytes>;

  Prelude find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nullptr : found->second;
  }
  // The first one stays.
  Prelude add(const std::string& key, support::SharedBytes bytes) {
    auto made = std::make_shared<const support::SharedBytes>(std::move(bytes));
    const std::lock_guard lock(mutex_);
    return by_key_.try_emplace(key, std::move(made)).first->second;
  }

 private:
  mutable support::ForkSafeMutex mutex_;
  std::map<std::string, Prelude> by_key_;
};

Preludes& preludes = *new Preludes;

}  // namespace

std::shared_ptr<const support::SharedBytes> prelude_for(const CompileOptions& options,
                                                        const isolation::CompileLimits& limits) {
  if (frontend::stdlib_on_disk()) return nullptr;
  const std::string name = frontend::prelude_key(options);
  if (auto known = preludes.find(name)) return known;
  const support::Hash key = support::Hasher().add("prelude").add(name).finish();
  std::optional<EntryTurn> turn;
  if (auto saved =
          read_or_take_turn(turn, EntryKind::prelude, key, [&] { return read_cache_entry(EntryKind::prelude, key); })) {
    return preludes.add(name, std::move(*saved));
  }
  CompileOptions plain;
  plain.language = options.language;
  plain.math_mode = options.math_mode;
  auto made = preludes.add(
      name, isolation::isolate(request_for(Task::prelude, plain), nullptr, {options.source_name}, limits, perform));
  write_cache_entry(EntryKind::prelude, key, made->view());
  return made;
}

frontend::Result compile_library(std::string_view source, const CompileOptions& options,
                                 const frontend::KernelSelection& selection, const isolation::CompileLimits& limits) {
  const auto prelude = prelude_for(options, limits);
  const std::string request = request_for(Task::library, LibraryRequest{options, std::string(source), selection});
  return read<frontend::Result>(isolation::isolate(request, prelude.get(), {options.source_name}, limits, perform));
}

namespace {

CompiledCode carry_out(KernelRequest request, const LibraryInfo& library, const isolation::CompileLimits& limits) {
  request.library.function_constants = library.function_constants;
  const isolation::Subject subject{request.kernel.source_file, request.kernel.name};
  return read<CompiledCode>(
      isolation::isolate(request_for(Task::kernel, std::move(request)), nullptr, subject, limits, perform));
}

}  // namespace

std::vector<Candidate> candidates_of(const std::vector<engines::Runner>& runners, Coverage coverage) {
  std::vector<Candidate> candidates;
  for (const engines::Runner& runner : runners) {
    const std::string target = coverage == Coverage::all ? runner.target() : runner.usual_target();
    candidates.push_back({runner.engine->name(), target, runner.hardware->limits()});
  }
  return candidates;
}

CompiledCode compile_kernel(std::string_view bitcode, const LibraryInfo& library, const KernelInfo& kernel,
                            const FunctionConstants& constants, std::vector<Candidate> candidates,
                            const isolation::CompileLimits& limits, Emit form, Checks checks) {
  return carry_out({std::move(candidates), form, false, checks, std::string(bitcode), {}, kernel, constants}, library,
                   limits);
}

Work count_work(std::string_view bitcode, const LibraryInfo& library, const KernelInfo& kernel,
                const FunctionConstants& constants, std::vector<Candidate> candidates,
                const isolation::CompileLimits& limits) {
  const CompiledCode result =
      carry_out({std::move(candidates), Emit::ir, true, Checks::none, std::string(bitcode), {}, kernel, constants},
                library, limits);
  Reader bytes(result.code);
  return read<Work>(bytes);
}

std::string disassemble_library(std::string_view bitcode, const std::string& source_name) {
  const auto text = isolation::isolate(request_for(Task::disassembly, std::string(bitcode)), nullptr, {source_name},
                                       isolation::CompileLimits::from_environment(), perform);
  return std::string(text.view());
}

}  // namespace runtime

PreprocessedSource preprocess(std::string_view source, const PreprocessOptions& options) {
  using namespace runtime;
  const auto limits = isolation::CompileLimits::from_environment();
  const auto prelude = prelude_for(options.compile, limits);
  const std::string request = request_for(Task::preprocessing, PreprocessRequest{options, std::string(source)});
  return read<PreprocessedSource>(
      isolation::isolate(request, prelude.get(), {options.compile.source_name}, limits, perform));
}

}  // namespace metalloid

// What metalloid_compiler calls. The build is the host's: another library that took its place cannot serve it.
extern "C" __attribute__((visibility("default"))) int metalloid_serve_compiler(int host, const char* build) {
  if (metalloid::support::build_id() != build) return 1;
  for (const auto& engine : metalloid::engines::all_engines()) engine->prepare();
  metalloid::isolation::serve(host, metalloid::runtime::perform);
  return 0;
}
