// Values of function constants on the command line: "NAME=VALUE" or "INDEX=VALUE".
#pragma once

#include <string>
#include <vector>

#include "metalloid/library.h"

namespace metalloid::tool {

// VALUE is a value of the constant's type (value.h); vectors also without braces: "1,0.5". Throws UsageError for what
// the type cannot hold and for a constant that is given twice.
FunctionConstants parse_constants(const Library& library, const std::vector<std::string>& assignments);

}  // namespace metalloid::tool
