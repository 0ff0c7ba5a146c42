// `metalloid aten`: becomes Python, which has PyTorch and its code generator.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "options.h"
#include "output.h"

namespace metalloid::tool {
namespace {

constexpr const char* program = R"(
import sys
try:
    from metalloid.aten.__main__ import main
except ModuleNotFoundError as error:
    sys.exit(f"metalloid: aten needs the Python packages metalloid and torch, and {sys.executable} has no {error.name}; "
             "METALLOID_PYTHON names another Python")
sys.exit(main(sys.argv[1:]))
)";

// Where a build folder has the package; nothing for a program that was installed.
std::optional<std::filesystem::path> package_of_build() {
  std::error_code error;
  const auto program_file = std::filesystem::read_symlink("/proc/self/exe", error);
  auto folder = program_file.parent_path().parent_path() / "python";
  if (error || !std::filesystem::is_regular_file(folder / "metalloid" / "__init__.py", error)) return std::nullopt;
  return folder;
}

// The Python of the nearest .venv above a build folder, where `make build` makes it; else the one of the PATH.
std::string python_beside(const std::optional<std::filesystem::path>& package) {
  if (package && std::getenv("VIRTUAL_ENV") == nullptr) {
    std::error_code error;
    for (auto folder = package->parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
      const auto python = folder / ".venv" / "bin" / "python";
      if (std::filesystem::exists(python, error)) return python.string();
    }
  }
  return "python3";
}

// Behind what the environment names already.
void add_to_search_path(const std::filesystem::path& folder) {
  const char* before = std::getenv("PYTHONPATH");
  const bool is_empty = before == nullptr || *before == '\0';
  setenv("PYTHONPATH", is_empty ? folder.c_str() : fmt::format("{}:{}", before, folder.string()).c_str(), 1);
}

}  // namespace

void add_aten(CLI::App& app) {
  // For the list of commands; what follows the name is Python's.
  app.add_subcommand("aten", "Writes, builds and tests PyTorch operators with Metal kernels");
}

bool is_for_python(int argc, char** argv) { return argc > 1 && std::strcmp(argv[1], "aten") == 0; }

int run_in_python(int argc, char** argv) {
  const char* chosen = std::getenv("METALLOID_PYTHON");
  const auto package = package_of_build();
  std::string python = chosen != nullptr && *chosen != '\0' ? chosen : python_beside(package);
  if (package) add_to_search_path(*package);
  std::vector<char*> arguments{python.data(), const_cast<char*>("-c"), const_cast<char*>(program)};
  arguments.insert(arguments.end(), argv + 2, argv + argc);
  arguments.push_back(nullptr);
  execvp(python.c_str(), arguments.data());
  print_message("metalloid: {} cannot be started: {}; METALLOID_PYTHON names another Python\n", python,
                std::strerror(errno));
  return exit_usage;
}

}  // namespace metalloid::tool
