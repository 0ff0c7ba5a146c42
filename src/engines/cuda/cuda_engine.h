// The CUDA engine: kernels become PTX, which NVIDIA's driver turns into a GPU's code.
#pragma once

#include <memory>

#include "engines/engine.h"

namespace metalloid::engines::cuda {

std::unique_ptr<Engine> make_engine();

}  // namespace metalloid::engines::cuda
