// Reads one kernel, and what it reaches, out of a library's bitcode.
#pragma once

#include <string_view>

#include "ir/module.h"

namespace metalloid::ir {

// The module then holds the kernel as its only external definition, the functions and variables that it uses, and
// the dynamic initialisers of constants, internal all of them. Other function bodies are never even parsed.
KernelModule select_kernel(std::string_view bitcode, const KernelInfo& kernel);

}  // namespace metalloid::ir
