// What the tools for Metal sources share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "metalloid/packed_library.h"

namespace metalloid::tool::sdk {

// Throws Error(input_output), which names the file.
std::vector<PackedLibrary> unpack_file(const std::string& path);
// To stdout if there is no path, or a dash.
void write_to(const std::string& path, std::string_view bytes);
// Runs a tool and says what went wrong as Apple's tools do. Returns the exit code.
int reported(std::string_view tool, int (*run)(const std::vector<std::string>&),
             const std::vector<std::string>& arguments);

}  // namespace metalloid::tool::sdk
