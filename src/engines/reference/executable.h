// Runs loaded kernels of the reference engine.
#pragma once

#include <memory>
#include <span>

#include "engines/engine.h"

namespace metalloid::engines::reference {

std::unique_ptr<Executable> load_executable(std::span<const char> object, const KernelInfo& info);

}  // namespace metalloid::engines::reference
