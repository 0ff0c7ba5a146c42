// This machine's processors.
#pragma once

#include "engines/hardware.h"

namespace metalloid::engines::cpu {

// Lives as long as the process.
Hardware& hardware();

}  // namespace metalloid::engines::cpu
