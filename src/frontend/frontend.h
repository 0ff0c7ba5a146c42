// MSL text to a compiled library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "metalloid/library.h"
#include "metalloid/preprocess.h"
#include "support/hash.h"

namespace metalloid::frontend {

// Which kernels of a source are to have code.
struct KernelSelection {
  enum class Kind : std::uint8_t {
    all,
    all_if_few,  // all, or none if the source instantiates many, or they need much
    some,        // one, and some of those behind it in the source
  };
  Kind kind = Kind::all;
  std::string kernel = {};      // some: the one
  std::uint32_t following = 0;  // some: how many more
};

// A path that the source led to, outside of memory and the standard library: a file and what the compiler read from it,
// or no file (which decides what `#include` and `__has_include` find elsewhere).
struct Dependency {
  std::string path;  // absolute
  bool is_file = false;
  support::Hash content;
};

struct Result {
  ir::CompiledLibrary library;
  // False if kernels that were not selected lack code. They have no symbol then, and what is said of them lacks what
  // only their bodies tell: arguments at program scope, static threadgroup memory, function constants that they use.
  // Of instantiations of a source that has many there is the name alone.
  bool is_complete = true;
  std::vector<Dependency> dependencies;
  std::uint64_t processor_time = 0;  // microseconds that it took
};

// Whether a compilation with these options would find the same files now.
bool are_current(const std::vector<Dependency>& dependencies, const CompileOptions& options);

// For work on the standard library: the folder that its headers are read from instead of the embedded ones,
// $METALLOID_STDLIB_DIR; null if that is not set or empty.
const char* stdlib_on_disk();

// The source after Clang's preprocessor. As compile() for the rest.
PreprocessedSource preprocess(std::string_view source, const PreprocessOptions& options, std::string_view prelude);

// Wants a large stack, and a process that it may crash, hang and fill: see runtime/compile/compile_jobs.h, which
// everybody calls. `prelude`: the standard library as make_prelude() gives it; empty: its text is parsed again. Throws
// Error(compile_error) with the compiler's log, Error(internal) if the compiler itself failed.
Result compile(std::string_view source, const CompileOptions& options, std::string_view prelude = {},
               const KernelSelection& selection = {});

}  // namespace metalloid::frontend
