// Another engine's code on hardware that is not like the host: memory of its own, work that is done later. For tests of
// what surrounds engines, so that nothing counts on the host's memory or on a call's return.
#pragma once

#include <memory>
#include <string>

#include "engines/engine.h"
#include "engines/trial/trial_hardware.h"

namespace metalloid::engines::trial {

// Runs on TrialHardware. `base` runs on the host's processor and lives as long as the process.
std::unique_ptr<Engine> make_engine(std::string name, const Engine& base);

}  // namespace metalloid::engines::trial
