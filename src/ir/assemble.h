// LLVM assembly to a library, as if the front end had made it: lets tests of passes and engines start from IR.
#pragma once

#include <string>
#include <string_view>

#include "metalloid/reflection.h"

namespace metalloid::ir {

// Returns bitcode. Throws Error(compile_error) with LLVM's message.
std::string assemble(std::string_view llvm_assembly);

}  // namespace metalloid::ir
