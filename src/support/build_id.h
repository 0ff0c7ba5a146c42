// What tells one build of the library from another: processes that work together must be of one, and measurements are
// of one.
#pragma once

#include <string>

namespace metalloid::support {

// The linker's build id of the library that this code is in, as hexadecimal digits.
const std::string& build_id();

}  // namespace metalloid::support
