// Kernels taken to machine code: in memory, else on disk, else by the device's engine.
#pragma once

#include <memory>

#include "metalloid/library.h"

namespace metalloid::runtime {

std::shared_ptr<const Kernel::State> find_or_compile_kernel(const Library::State& library, const KernelInfo& kernel,
                                                            const FunctionConstants& constants);

}  // namespace metalloid::runtime
