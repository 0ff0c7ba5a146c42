// PTX to machine code, by the driver.
#pragma once

#include <optional>

#include "engines/cuda/code/code_file.h"
#include "engines/cuda/run/gpu.h"

namespace metalloid::engines::cuda {

// Machine code for that GPU, of PTX; nothing if the driver makes none.
std::optional<CodeFile> assembled(CodeFile file, Gpu& gpu);

// So that the next one need not wait until the driver has read its assembler.
void warm_assembler();

}  // namespace metalloid::engines::cuda
