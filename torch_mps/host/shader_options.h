// How PyTorch compiles Metal source.
#pragma once

#include <metalloid/library.h>

#include <string>

namespace metalloid::torch_host {

// With PyTorch's own headers; `given` is null where the source decides.
CompileOptions compile_options(const std::string& source, const CompileOptions* given);

}  // namespace metalloid::torch_host
