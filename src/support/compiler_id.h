// What tells one compiler of kernels from another, for cache keys: front end, passes, engines, standard library and how
// results are stored. An edit of what only runs kernels, or of Python, keeps those that are compiled.
#pragma once

#include <string_view>

namespace metalloid::support {

// A hash of the sources, of LLVM and of how they were compiled (cmake/compiler_id.cmake), as hexadecimal digits.
std::string_view compiler_id();

}  // namespace metalloid::support
