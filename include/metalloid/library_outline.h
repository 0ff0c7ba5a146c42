// What is known of a library from its declarations alone. Of a source that instantiates many kernels, Library::info()
// makes the code of all of them, and throws compile_error if the body of one has errors; these do not.
#pragma once

#include <vector>

#include "metalloid/library.h"

namespace metalloid {

const std::vector<FunctionConstantInfo>& function_constants_of(const Library& library);
const std::vector<UnsupportedFunction>& unsupported_functions_of(const Library& library);

}  // namespace metalloid
