// Checks a dispatch against its kernel and resolves it for the engine.
#pragma once

#include "engines/engine.h"
#include "metalloid/dispatch.h"

namespace metalloid::runtime {

// Throws invalid_argument or limit_exceeded, naming the kernel and the argument. The plan points into the dispatch's
// inline bytes: it must not outlive the dispatch.
engines::DispatchPlan plan_dispatch(const Kernel& kernel, const Dispatch& dispatch);

}  // namespace metalloid::runtime
