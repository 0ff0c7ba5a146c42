// A Mac's arguments of Clang to those of Clang on Linux.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace metalloid::tool::sdk {

struct ClangPlaces {
  std::filesystem::path headers, frameworks, libraries;
};

struct ClangArguments {
  std::vector<std::string> arguments;
  std::string refusal;  // why there are none
};

// `assembly`: what stands in for an assembler's source that was written for a Mac, or nothing.
ClangArguments clang_arguments(const std::vector<std::string>& given, bool is_cpp, const ClangPlaces& places,
                               const std::function<std::string(const std::string&)>& assembly);

// Source of a Mac's assembler to that of Linux': names of sections, and symbols without their underscore. The same text
// if it has no section of a Mac.
std::string assembly_for_linux(const std::string& source);

}  // namespace metalloid::tool::sdk
