// Finding a kernel in a library, and what must hold for it to become a pipeline.
#pragma once

#include <string_view>

#include "metalloid/library.h"

namespace metalloid::runtime {

// Throws unknown_function naming the nearest kernels, unsupported for functions of other kinds.
const KernelInfo& find_kernel(const LibraryInfo& library, std::string_view name);

// Throws limit_exceeded (threads, static threadgroup memory). For specialised kernels.
void check_kernel(const KernelInfo& kernel, const Limits& limits);

}  // namespace metalloid::runtime
