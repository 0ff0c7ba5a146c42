// The reference engine: runs each thread's scalar code, one lane at a time, on the machine's CPU. It defines what
// the other engines are compared with.
#pragma once

#include <memory>

#include "engines/engine.h"

namespace metalloid::engines::reference {

std::unique_ptr<Engine> make_engine();

}  // namespace metalloid::engines::reference
