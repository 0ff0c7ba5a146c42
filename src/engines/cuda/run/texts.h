// Texts in a GPU's memory.
#pragma once

#include <string>

#include "engines/cuda/driver/driver.h"

namespace metalloid::engines::cuda {

// Up to its zero; what cannot be read of it is left out.
std::string text_at(Address address);

}  // namespace metalloid::engines::cuda
