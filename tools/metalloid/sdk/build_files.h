// The SDK's files for build systems.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace metalloid::tool::sdk {

// Paths within the SDK's folder, and their contents.
std::vector<std::pair<std::string, std::string>> build_files(const std::string& folder);

}  // namespace metalloid::tool::sdk
