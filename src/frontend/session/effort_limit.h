// Ends compilations whose macros expand to billions of tokens before they fill the memory. Time, and memory otherwise,
// are limited where the compiler runs (isolation/compile_limits.h).
#pragma once

#include <cstddef>

namespace metalloid::frontend {

// Thrown through Clang, which cleans nothing up: the session must then be left behind, not destroyed.
struct EffortExceeded {
  const char* reason;
};

// Throws EffortExceeded.
void check_token_count(std::size_t count);

}  // namespace metalloid::frontend
