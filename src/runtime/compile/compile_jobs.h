// The compiler's work as the runtime orders it: each job is performed by isolation::isolate, so that it may crash,
// never end or need all memory without harm.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engines/engine.h"
#include "frontend/frontend.h"
#include "isolation/compile_limits.h"
#include "metalloid/emit.h"
#include "metalloid/library.h"
#include "metalloid/work.h"
#include "runtime/compile/archive.h"
#include "support/shared_bytes.h"

namespace metalloid::runtime {

// The front end's whole way. Throws what frontend::compile and isolation::isolate throw.
frontend::Result compile_library(std::string_view source, const CompileOptions& options,
                                 const frontend::KernelSelection& selection = {},
                                 const isolation::CompileLimits& limits = isolation::CompileLimits::from_environment());

// An engine to ask, and all that is to be known of its hardware.
struct Candidate {
  std::string engine;
  std::string target;
  Limits limits;
};
template <typename Archive>
void archive(Archive& bytes, Candidate& candidate) {
  archive_all(bytes, candidate.engine, candidate.target, candidate.limits.threads_per_threadgroup,
              candidate.limits.threadgroup_memory_bytes);
}

enum class Coverage : std::uint8_t { all, usual };  // dispatches: engines::Engine::usual_target_for
std::vector<Candidate> candidates_of(const std::vector<engines::Runner>& runners, Coverage coverage = Coverage::all);

struct CompiledCode {
  KernelInfo info;              // specialised
  std::string engine;           // that took the kernel
  std::vector<Remark> remarks;  // of all engines that were asked
  std::string code;
};

template <typename Archive>
void archive(Archive& bytes, CompiledCode& compiled) {
  archive_all(bytes, compiled.info, compiled.engine, compiled.remarks, compiled.code);
}

template <typename Archive>
void archive(Archive& bytes, Work::Use& use) {
  archive_all(bytes, use.reads, use.writes);
}

template <typename Archive>
void archive(Archive& bytes, Work& work) {
  bool is_counted = work.flops_per_thread.has_value();
  double flops = work.flops_per_thread.value_or(0);
  archive_all(bytes, is_counted, flops, work.arguments);
  if (is_counted) work.flops_per_thread = flops;
}

// How much of a kernel is watched while it runs.
enum class Checks : std::uint8_t { none, standard, with_finite };

// One kernel, specialised and taken to what the first engine that takes it loads, or to text. Throws also what
// check_kernel throws, and unsupported if no engine takes it.
CompiledCode compile_kernel(std::string_view bitcode, const LibraryInfo& library, const KernelInfo& kernel,
                            const FunctionConstants& constants, std::vector<Candidate> candidates,
                            const isolation::CompileLimits& limits, Emit form = Emit::object,
                            Checks checks = Checks::none);

// What the code of a kernel does, as the first engine would get it.
Work count_work(std::string_view bitcode, const LibraryInfo& library, const KernelInfo& kernel,
                const FunctionConstants& constants, std::vector<Candidate> candidates,
                const isolation::CompileLimits& limits);

// The LLVM IR of a whole library as text.
std::string disassemble_library(std::string_view bitcode, const std::string& source_name);

// The precompiled standard library for these options: from memory, else from disk, else made, within the limits of the
// compile that needs it. Null where headers come from a folder on disk.
std::shared_ptr<const support::SharedBytes> prelude_for(const CompileOptions& options,
                                                        const isolation::CompileLimits& limits);

}  // namespace metalloid::runtime
