// Kernels taken to machine code: in memory, else on disk, else by the device's engine.
#pragma once

#include <memory>

#include "metalloid/library.h"

namespace metalloid::engines {
struct DispatchPlan;
}

namespace metalloid::runtime {

struct CompiledKernel;

std::shared_ptr<const Kernel::State> find_or_compile_kernel(std::shared_ptr<const Library::State> library,
                                                            const KernelInfo& kernel,
                                                            const FunctionConstants& constants);

// Code that takes the dispatch: the kernel's own, or what is compiled when a dispatch first wants more than that.
const CompiledKernel& code_for(const Kernel::State& kernel, const engines::DispatchPlan& plan);
// Null if it is still to be compiled.
const CompiledKernel* ready_code_for(const Kernel::State& kernel, const engines::DispatchPlan& plan);

// The same kernel with the checker's code in it, which tells what is wrong. `finite`: it also looks for NaN and
// infinity.
std::shared_ptr<const CompiledKernel> find_or_compile_checked(const Kernel::State& kernel, bool finite);

// The same for checker::Screen, which tells whether anything may be wrong. Null if the kernel is not to be had so.
std::shared_ptr<const CompiledKernel> find_or_compile_screened(const Kernel::State& kernel, bool finite);

}  // namespace metalloid::runtime
