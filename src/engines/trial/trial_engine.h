// An engine for tests of what surrounds engines: it has memory that the host cannot reach, and takes only kernels whose
// threads never meet. Registered if $METALLOID_TRIAL_ENGINE is set, in builds with tests.
#pragma once

#include <memory>

#include "engines/engine.h"

namespace metalloid::engines::trial {

std::unique_ptr<Engine> make_engine();

}  // namespace metalloid::engines::trial
