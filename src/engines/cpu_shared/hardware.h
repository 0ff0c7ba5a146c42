// This machine's processors and its main memory.
#pragma once

#include "engines/hardware.h"

namespace metalloid::engines::cpu {

// Lives as long as the process.
Hardware& hardware();

}  // namespace metalloid::engines::cpu
