// What the tools ask of hardware, and of kernels on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engines/hardware.h"
#include "metalloid/device.h"
#include "metalloid/library.h"

namespace metalloid::runtime {

std::optional<engines::Peak> peak_of(const Device& device);
// What a threadgroup of so many threads takes of the hardware, for people.
std::vector<std::pair<std::string, std::string>> resources_of(const Kernel& kernel, std::uint32_t threads);
// Whether a driver makes machine code of compiled kernels in this process.
bool has_assembler(const Device& device);
// The machine code of what emit() gives as an object. Throws internal if the driver makes none.
std::string machine_code_of(const Device& device, const std::string& object);

}  // namespace metalloid::runtime
