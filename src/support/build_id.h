// What tells one build of the library from another, for cache keys: code that changed must not find its old results.
#pragma once

#include <string>

namespace metalloid::support {

// The linker's build id of the library that this code is in, as hexadecimal digits.
const std::string& build_id();

}  // namespace metalloid::support
