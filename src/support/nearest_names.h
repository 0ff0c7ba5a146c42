// Suggestions for a name that does not exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace metalloid::support {

// "did you mean 'softmax'?" or, if nothing is near, "there are 'a', 'b', 'c' and 12 more".
std::string nearest_names(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace metalloid::support
