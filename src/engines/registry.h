// The engines of this build, and the devices that they make.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engines/engine.h"

namespace metalloid::engines {

const std::vector<std::unique_ptr<Engine>>& all_engines();

struct RegisteredDevice {
  std::string name;
  std::vector<const Engine*> engines;  // the first takes a kernel if it can, else the next
};

// The standard one first. All engines belong to one at least.
const std::vector<RegisteredDevice>& all_devices();

// Stops all that runs on any hardware. May be called from signal handlers.
void interrupt_all() noexcept;

}  // namespace metalloid::engines
