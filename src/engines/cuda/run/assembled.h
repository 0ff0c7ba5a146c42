// PTX to machine code, by the driver.
#pragma once

#include <span>
#include <string>

#include "engines/cuda/run/gpu.h"

namespace metalloid::engines::cuda {

// A code file (code/code_file.h) with machine code for that GPU, of one with PTX; empty if the driver makes none.
std::string assembled(std::span<const char> bytes, Gpu& gpu);

// So that the next one need not wait until the driver has read its assembler.
void warm_assembler();

}  // namespace metalloid::engines::cuda
