// Runs the back half of the compiler so that its crash is an error and not the end of the process.
#pragma once

#include <string_view>

#include "support/function_ref.h"

namespace metalloid::runtime {

// On a large stack, for LLVM recurses over deep expressions. Throws Error(internal) if the work crashed.
void guarded_compile(std::string_view kernel, support::function_ref<void()> work);

}  // namespace metalloid::runtime
