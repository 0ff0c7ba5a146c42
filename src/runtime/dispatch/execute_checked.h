// Runs a dispatch under the checker: on the engine that checks, whichever the kernel's own is.
#pragma once

#include <memory>

#include "checker/session.h"
#include "engines/engine.h"
#include "metalloid/library.h"

namespace metalloid::runtime {

// What the kernel does wrong goes to the session; errors of the dispatch are thrown as ever.
void execute_checked(const Kernel& kernel, const engines::DispatchPlan& plan,
                     std::shared_ptr<CheckSession::State> session);

}  // namespace metalloid::runtime
