// Finds what no engine can run before anybody spends time on the rest of a kernel.
#pragma once

#include "ir/module.h"

namespace metalloid::ir {

// Textures and samplers as arguments, and calls of functions that nobody defines, as methods of textures are. Behind
// fold_function_constants: arguments that are gated off and calls that no function constant lets happen do not count.
// Throws unsupported and names the kernel and the place.
void refuse_unsupported(KernelModule& kernel);

}  // namespace metalloid::ir
