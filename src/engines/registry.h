// The engines of this build, best first.
#pragma once

#include <memory>
#include <vector>

#include "engines/engine.h"

namespace metalloid::engines {

const std::vector<std::unique_ptr<Engine>>& all_engines();

}  // namespace metalloid::engines
