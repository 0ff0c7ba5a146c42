#pragma once

#include <memory>
#include <span>

#include "engines/engine.h"

namespace metalloid::engines::simd {

std::unique_ptr<Executable> load_executable(std::span<const char> object, const KernelInfo& info);

}  // namespace metalloid::engines::simd
