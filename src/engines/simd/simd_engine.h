// The SIMD engine: 32 lanes in step, in the processor's vector registers. docs/simd-engine.md shows how.
#pragma once

#include <memory>

#include "engines/engine.h"

namespace metalloid::engines::simd {

std::unique_ptr<Engine> make_engine();

}  // namespace metalloid::engines::simd
