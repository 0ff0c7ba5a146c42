// Runs a planned dispatch on the hardware of its kernel's engine.
#pragma once

#include "engines/engine.h"
#include "metalloid/library.h"

namespace metalloid::runtime {

struct CompiledKernel;

// Buffers in other memory than the hardware's are copied there and, if the kernel may write them, back, also when it
// fails. Throws what Executable::run throws.
void execute(const Kernel& kernel, const engines::DispatchPlan& plan);
// Whether that is nothing but the hardware's work: no copies, no checks.
bool runs_directly(const Kernel& kernel, const engines::DispatchPlan& plan);
// Its code, if that is there, and hardware that takes it so and is done with it later; else null.
const CompiledKernel* code_at_once(const Kernel& kernel, const engines::DispatchPlan& plan);

}  // namespace metalloid::runtime
