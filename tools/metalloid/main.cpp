// The command line `metalloid`: subcommands, and one place where errors become messages and exit codes.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "argument.h"
#include "metalloid/error.h"
#include "metalloid/version.h"
#include "options.h"

int main(int argc, char** argv) {
  using namespace metalloid;
  using namespace metalloid::tool;

  CLI::App app{"Compiles Metal Shading Language compute kernels and runs them on this machine, without a Mac."};
  app.name("metalloid");
  app.set_version_flag("--version", fmt::format("metalloid {}", version));
  app.require_subcommand(1);
  app.footer(
      "Examples:\n"
      "  metalloid compile kernel.metal                  check it; errors as Clang shows them\n"
      "  metalloid inspect kernel.metal                  its kernels and what they want bound\n"
      "  metalloid run kernel.metal --kernel saxpy --threads 8 --group 4 \\\n"
      "      --arg y=f32[8]=ones --arg x=f32[8]=arange --arg a=f32:0.5 --print y\n"
      "  metalloid tune kernel.metal --kernel saxpy --threads 100000 \\\n"
      "      --arg y=f32[100000]=ones --arg x=f32[100000]=arange --arg a=f32:0.5\n\n"
      "Results go to stdout, messages to stderr.\n"
      "Exit codes: 0 fine, 1 the source does not compile, 2 the command line is wrong, 3 running failed.\n"
      "'metalloid COMMAND --help' explains a command.");
  int exit_code = exit_fine;
  add_compile(app, exit_code);
  add_inspect(app, exit_code);
  add_run(app, exit_code);
  add_tune(app, exit_code);
  add_devices(app, exit_code);

  std::vector<std::string> arguments = double_dashes(argc, argv);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_fine : exit_usage;
  } catch (const UsageError& error) {
    fmt::print(stderr, "metalloid: {}\n", error.what());
    return exit_usage;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::compile_error) {
      const std::string_view log = error.what();  // the compiler's own log, which says "error:" itself
      fmt::print(stderr, "{}{}", log, log.ends_with('\n') ? "" : "\n");
      return exit_compile_error;
    }
    fmt::print(stderr, "metalloid: {}\n", error.what());
    return exit_run_error;
  } catch (const std::exception& error) {
    fmt::print(stderr, "metalloid: {}\n", error.what());
    return exit_run_error;
  }
  return exit_code;
}
