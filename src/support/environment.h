// Numbers in environment variables.
#pragma once

namespace metalloid::support {

// `standard` if the variable is unset or empty; infinity for 0 and inf, which are no limit. Throws invalid_argument for
// what is no such number. `unit` is for its message.
double limit_from_environment(const char* name, const char* unit, double standard);

}  // namespace metalloid::support
