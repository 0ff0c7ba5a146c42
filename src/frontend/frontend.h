// MSL text to a compiled library.
#pragma once

#include <filesystem>
#include <functional>
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

// Throws Error(compile_error) with the compiler's log, Error(internal) if the compiler itself failed.
Result compile(std::string_view source, const CompileOptions& options);

}  // namespace metalloid::frontend
