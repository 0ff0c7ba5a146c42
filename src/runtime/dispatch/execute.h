// Runs a planned dispatch on the hardware of its kernel's engine.
#pragma once

#include "engines/engine.h"
#include "metalloid/library.h"

namespace metalloid::runtime {

// Buffers in other memory than the hardware's are copied there and, if the kernel may write them, back, also when it
// fails. Throws what Executable::run throws.
void execute(const Kernel& kernel, const engines::DispatchPlan& plan);
// Whether that is nothing but the hardware's work: no copies, no checks.
bool runs_directly(const Kernel& kernel, const engines::DispatchPlan& plan);
// The hardware that takes it so and is done with it later, if its code is there, too; null if there is none.
const engines::Hardware* hardware_at_once(const Kernel& kernel, const engines::DispatchPlan& plan);

}  // namespace metalloid::runtime
