// `metalloid aten`: becomes Python, which has PyTorch and its code generator.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
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

}  // namespace

void add_aten(CLI::App& app) {
  // For the list of commands; what follows the name is Python's.
  app.add_subcommand("aten", "Writes, builds and tests PyTorch operators with Metal kernels");
}

bool is_for_python(int argc, char** argv) { return argc > 1 && std::strcmp(argv[1], "aten") == 0; }

int run_in_python(int argc, char** argv) {
  const char* chosen = std::getenv("METALLOID_PYTHON");
  std::string python = chosen != nullptr && *chosen != '\0' ? chosen : "python3";
  std::vector<char*> arguments{python.data(), const_cast<char*>("-c"), const_cast<char*>(program)};
  arguments.insert(arguments.end(), argv + 2, argv + argc);
  arguments.push_back(nullptr);
  execvp(python.c_str(), arguments.data());
  print_message("metalloid: {} cannot be started: {}; METALLOID_PYTHON names another Python\n", python,
                std::strerror(errno));
  return exit_usage;
}

}  // namespace metalloid::tool
