// What builds a Mac's programs here: compiler drivers that take a Mac's options, the tools that its build systems call,
// and a folder of links with headers, frameworks, libraries and files for CMake and Meson.
#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace metalloid::tool::sdk {

// The macOS that the tools speak of, as the host API's headers and NSProcessInfo do.
inline constexpr const char* macos_version = "15.0";
inline constexpr const char* macos_build = "24A335";

// What the installation brings.
std::filesystem::path headers();    // Apple's by their names
std::filesystem::path libraries();  // libmetalloid.so, libmetalloid_metal.so
std::filesystem::path program();    // this one

// The frameworks that there are.
const std::vector<std::string>& frameworks();

// $METALLOID_SDK, else a folder of the user's data that belongs to this installation. It is made if it is not there.
const std::filesystem::path& folder();

// A program that build systems call, by the name that this one was started as: xcrun, metal, ... Null for others.
using Tool = int (*)(const std::vector<std::string>& arguments);
Tool tool_named(std::string_view program);
const std::vector<std::string>& tool_names();

int run_clang(const std::vector<std::string>& arguments);
int run_clang_plus_plus(const std::vector<std::string>& arguments);
int run_xcrun(const std::vector<std::string>& arguments);
int run_xcode_select(const std::vector<std::string>& arguments);
int run_sw_vers(const std::vector<std::string>& arguments);
int run_metal(const std::vector<std::string>& arguments);
int run_metallib(const std::vector<std::string>& arguments);
int run_metal_ar(const std::vector<std::string>& arguments);
int run_metal_nm(const std::vector<std::string>& arguments);

// Becomes another program. Returns, with an exit code, only if there is none.
int become(const std::string& program, const std::vector<std::string>& arguments);

// Builds and runs a small program of each kind, and says what is missing. Returns the exit code.
int examine();

}  // namespace metalloid::tool::sdk
