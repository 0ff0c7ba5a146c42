// The compiler's options as the command line spells them, and what every subcommand shares.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "metalloid/library.h"

namespace metalloid::tool {

// Exit codes of every subcommand.
inline constexpr int exit_fine = 0;
inline constexpr int exit_compile_error = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_run_error = 3;

// What the user wrote; `compile_options` makes sense of it.
struct CompilerFlags {
  std::string standard;
  std::string math_mode;
  std::vector<std::string> definitions;
  std::vector<std::string> include_directories;
  bool warnings_as_errors = false;
};

void add_compiler_flags(CLI::App& command, CompilerFlags& flags);
// Throws UsageError for an unknown language version or math mode.
CompileOptions compile_options(const CompilerFlags& flags);

// Values for function constants, "NAME=VALUE" or "INDEX=VALUE"; VALUE is true, false, an integer, a float, or
// several of them with commas for a vector. Throws UsageError.
FunctionConstants parse_constants(const std::vector<std::string>& assignments);

// Metal's compiler takes options such as -std=metal3.1 with one dash, which CLI11 reads as a bundle of short
// options: gives those options their second dash.
std::vector<std::string> double_dashes(int argc, char** argv);

// Prints a library's warnings to stderr.
void show_warnings(const Library& library);

// The subcommands, one file each. The function that carries one out is called when it was chosen, and its
// result is the exit code.
void add_compile(CLI::App& app, int& exit_code);
void add_inspect(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_tune(CLI::App& app, int& exit_code);
void add_devices(CLI::App& app, int& exit_code);

}  // namespace metalloid::tool
