// `metalloid sdk`: where the SDK is, a shell that has it, and whether it works.
#include <fmt/format.h>

#include <cstdlib>

#include "options.h"
#include "output.h"
#include "sdk/sdk.h"

namespace metalloid::tool {
namespace {

namespace fs = std::filesystem;

struct Variable {
  const char* name;
  std::string value;
};

std::string search_path() {
  const std::string own = (sdk::folder() / "bin").string();
  const char* before = std::getenv("PATH");
  const std::string rest = before != nullptr ? before : "/usr/local/bin:/usr/bin:/bin";
  return rest.starts_with(own) ? rest : own + ":" + rest;
}

std::vector<Variable> variables() {
  const fs::path bin = sdk::folder() / "bin";
  const std::string clang = bin / "metalloid-clang", clang_plus_plus = bin / "metalloid-clang++";
  return {{"PATH", search_path()},     {"CC", clang},
          {"CXX", clang_plus_plus},    {"OBJC", clang},
          {"OBJCXX", clang_plus_plus}, {"SDKROOT", sdk::folder()}};
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      result += "'\\''";
    } else {
      result += letter;
    }
  }
  return result + "'";
}

int become_shell(const std::vector<std::string>& command) {
  for (const Variable& one : variables()) setenv(one.name, one.value.c_str(), 1);
  if (!command.empty()) return sdk::become(command[0], {command.begin() + 1, command.end()});
  const char* shell = std::getenv("SHELL");
  return sdk::become(shell != nullptr && *shell != '\0' ? shell : "/bin/sh", {});
}

}  // namespace

void add_sdk(CLI::App& app, int& exit_code, std::vector<std::string> program) {
  CLI::App* command = app.add_subcommand("sdk", "Builds programs that were written for a Mac's Metal");
  command->require_subcommand(1);
  command->footer(
      "Examples:\n"
      "  metalloid sdk shell make                        a Makefile that calls xcrun, clang and the like\n"
      "  cmake -B build --toolchain \"$(metalloid sdk path)/cmake/metalloid.cmake\"\n"
      "  eval \"$(metalloid sdk env)\"                     the same for this shell");
  CLI::App* path = command->add_subcommand("path", "Prints the folder of tools, headers, frameworks, CMake files");
  path->callback([&exit_code] {
    print_result("{}\n", sdk::folder().string());
    exit_code = exit_fine;
  });
  CLI::App* env = command->add_subcommand("env", "Prints what a shell sets to use them: PATH, CC, CXX, OBJC, OBJCXX");
  env->callback([&exit_code] {
    for (const Variable& one : variables()) print_result("export {}={}\n", one.name, quoted(one.value));
    exit_code = exit_fine;
  });
  CLI::App* shell =
      command->add_subcommand("shell", "COMMAND ARGUMENTS...: starts it, or a shell, with these variables");
  shell->callback([program = std::move(program), &exit_code] { exit_code = become_shell(program); });
  CLI::App* doctor = command->add_subcommand("doctor", "Builds and runs a small program of each kind");
  doctor->callback([&exit_code] { exit_code = sdk::examine() == 0 ? exit_fine : exit_run_error; });
}

}  // namespace metalloid::tool
