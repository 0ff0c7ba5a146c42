// MSL text to a compiled library.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "metalloid/library.h"

namespace metalloid::frontend {

struct Result {
  ir::CompiledLibrary library;
  // Files outside the source and the standard library that were read, for cache validation.
  std::vector<std::filesystem::path> dependencies;
};

// Where precompiled standard libraries are kept between processes. Both functions may be empty.
struct PreludeStore {
  std::function<std::optional<std::string>(const std::string& key)> load;
  std::function<void(const std::string& key, const std::string& contents)> save;
};

// For work on the standard library: the folder that its headers are read from instead of the embedded ones,
// $METALLOID_STDLIB_DIR; null if that is not set or empty.
const char* stdlib_on_disk();

// Throws Error(compile_error) with the compiler's log, Error(internal) if the compiler itself failed.
Result compile(std::string_view source, const CompileOptions& options, const PreludeStore& store = {});

}  // namespace metalloid::frontend
