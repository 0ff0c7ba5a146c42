// The engines of this build, and the devices that they make with the machine's hardware.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engines/engine.h"

namespace metalloid::engines {

// Asks for no hardware.
const std::vector<std::unique_ptr<Engine>>& all_engines();
// Throws internal if there is none.
const Engine& engine_named(std::string_view name);

struct RegisteredDevice {
  std::string name;
  std::vector<Runner> runners;  // the first takes a kernel if it can, else the next
};

// The standard one first. Equal hardware of one engine has numbers: "trial", "trial:1". All engines belong to one
// device at least.
const std::vector<RegisteredDevice>& all_devices();

bool has_device(std::string_view name);

// Why there is no device of that name although its hardware, or a part of it, is there; empty if it is not.
std::string reason_without(std::string_view name);

// The first that has the role; none if there is none.
std::vector<Runner> runners_that(CheckRole role);

// Stops all that runs on any hardware. May be called from signal handlers.
void interrupt_all() noexcept;

}  // namespace metalloid::engines
