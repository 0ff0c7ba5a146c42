// Where the library that this code is in was loaded from.
#pragma once

#include <string>

namespace metalloid::support {

// Absolute. Empty if the loader does not say.
std::string library_path();

}  // namespace metalloid::support
