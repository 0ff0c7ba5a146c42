// Loads what the SIMD engine compiled, with the functions that its code may call.
#pragma once

#include <memory>
#include <span>

#include "engines/engine.h"

namespace metalloid::engines::simd {

std::unique_ptr<Executable> load_executable(std::span<const char> object, const KernelInfo& info);

}  // namespace metalloid::engines::simd
