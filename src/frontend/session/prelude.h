// The standard library as a precompiled header: parsed once per machine, not once per kernel.
#pragma once

#include <string>

#include "metalloid/library.h"

namespace metalloid::frontend {

// Parses the standard library for the language version and the math mode of these options.
// Throws Error(internal) with the log if the library itself does not compile.
std::string make_prelude(const CompileOptions& options);

// Equal where the precompiled library is.
std::string prelude_key(const CompileOptions& options);

// Changes whenever the embedded headers, Clang or Metalloid change.
const std::string& stdlib_fingerprint();

}  // namespace metalloid::frontend
