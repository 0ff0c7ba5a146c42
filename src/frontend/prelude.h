// The standard library as a precompiled header: parsed once per machine, not once per kernel.
#pragma once

#include <memory>
#include <string>

#include "frontend/frontend.h"

namespace metalloid::frontend {

// From memory, else from the store, else built (and saved). Null where headers come from a folder on disk.
std::shared_ptr<const std::string> precompiled_prelude(const CompileOptions& options, const PreludeStore& store);

// Changes whenever the embedded headers, Clang or Metalloid change.
const std::string& stdlib_fingerprint();

}  // namespace metalloid::frontend
