// The compiler's options as the command line spells them, and what every subcommand shares.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "metalloid/device.h"
#include "metalloid/library.h"

namespace metalloid::tool {

// Exit codes of every subcommand.
inline constexpr int exit_fine = 0;
inline constexpr int exit_compile_error = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_run_error = 3;
inline constexpr int exit_findings = 4;

// What the user wrote; `compile_options` makes sense of it.
struct CompilerFlags {
  std::string standard;
  std::string math_mode;
  std::vector<std::string> definitions;
  std::vector<std::string> include_directories;
  bool warnings_as_errors = false;
  std::string thread_overruns = "fail";
};

// Options that take a number: decimal, and nothing else. A value outside of the range, its ends included, is a
// UsageError.
void add_whole_number(CLI::App& command, const std::string& name, const std::string& description,
                      std::uint64_t smallest, std::uint64_t largest, const std::function<void(std::uint64_t)>& set);
void add_real_number(CLI::App& command, const std::string& name, const std::string& description, double largest,
                     const std::function<void(double)>& set);

void add_compiler_flags(CLI::App& command, CompilerFlags& flags);
// Throws UsageError for an unknown language version or math mode.
CompileOptions compile_options(const CompilerFlags& flags);

// Metal's compiler takes options such as -std=metal3.1 with one dash, which CLI11 reads as a bundle of short
// options: gives those options their second dash.
std::vector<std::string> double_dashes(int argc, char** argv);

// Compiles a file and prints the compiler's warnings. Throws UsageError for what is no file, Error for what does not
// compile.
Library load_source(const Device& device, const std::string& file, const CompilerFlags& flags);

// The subcommands, one file each. The function that carries one out is called when it was chosen, and its
// result is the exit code.
void add_compile(CLI::App& app, int& exit_code);
void add_inspect(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
// `program`: what stood behind --, for all kernels that it launches.
void add_check(CLI::App& app, int& exit_code, std::vector<std::string> program);
void add_tune(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_devices(CLI::App& app, int& exit_code);
void add_sdk(CLI::App& app, int& exit_code, std::vector<std::string> program);  // what a shell is to run
void add_aten(CLI::App& app);

// Whether the command is one of Python's.
bool is_for_python(int argc, char** argv);
// Becomes Python. Returns an exit code only if there is none.
int run_in_python(int argc, char** argv);

}  // namespace metalloid::tool
