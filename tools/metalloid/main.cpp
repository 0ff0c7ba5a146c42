// The command line `metalloid`: subcommands, and one place where errors become messages and exit codes.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <sstream>
#include <string_view>

#include "argument.h"
#include "metalloid/error.h"
#include "metalloid/version.h"
#include "options.h"
#include "output.h"
#include "sdk/sdk.h"
#include "support/function_ref.h"
#include "support/nearest_names.h"

namespace {

using metalloid::tool::shortened;
using metalloid::tool::UsageError;

// CLI11 speaks of names that it does not know only when all else is right.
void check_names(const CLI::App& app, const std::vector<std::string>& reversed) {
  if (reversed.empty() || reversed.back().starts_with('-')) return;
  const std::string& name = reversed.back();
  const CLI::App* command = nullptr;
  std::vector<std::string> commands;
  for (const CLI::App* known : app.get_subcommands({})) {
    commands.push_back(known->get_name());
    if (commands.back() == name) command = known;
  }
  if (command == nullptr) {
    throw UsageError(fmt::format("no command is named '{}'; {}", shortened(name),
                                 metalloid::support::nearest_names(name, commands)));
  }
  for (const std::string& argument : reversed) {
    const std::string option = argument.substr(0, argument.find('='));
    if (!option.starts_with("--") || option == "--" || command->get_option_no_throw(option) != nullptr) continue;
    std::vector<std::string> options;
    for (const CLI::Option* known : command->get_options()) {
      for (const std::string& long_name : known->get_lnames()) options.push_back("--" + long_name);
    }
    throw UsageError(fmt::format("'metalloid {}' has no option {}; {}", name, shortened(option),
                                 metalloid::support::nearest_names(option, options)));
  }
}

// `check -- PROGRAM ARGUMENTS...`, `sdk shell COMMAND ARGUMENTS...`: taken out, since their options are their own.
std::vector<std::string> take_program(std::vector<std::string>& arguments) {
  auto begin = arguments.end();
  if (!arguments.empty() && arguments[0] == "check") begin = std::ranges::find(arguments, "--");
  const bool is_shell = arguments.size() > 2 && arguments[0] == "sdk" && arguments[1] == "shell";
  if (is_shell && arguments[2] != "--help" && arguments[2] != "-h") begin = arguments.begin() + 2;
  if (begin == arguments.end()) return {};
  std::vector<std::string> program(begin + (*begin == "--" ? 1 : 0), arguments.end());
  arguments.erase(begin, arguments.end());
  return program;
}

// The way from arguments to an exit code, or to the exceptions of explained().
int perform(int argc, char** argv) {
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
      "  metalloid run kernel.metal --kernel saxpy --threads 8 \\\n"
      "      --arg y=f32[8]=ones --arg x=f32[8]=arange --arg a=0.5 --print y\n"
      "  metalloid check kernel.metal --kernel saxpy ...   the same, and what is wrong with the kernel\n"
      "  metalloid tune kernel.metal --kernel saxpy --threads 100000 \\\n"
      "      --arg y=f32[100000]=ones --arg x=f32[100000]=arange --arg a=0.5\n"
      "  metalloid bench kernel.metal --kernel saxpy ...   how fast it is, and how fast it could be\n\n"
      "Results go to stdout, messages to stderr.\n"
      "Exit codes: 0 fine, 1 the source does not compile, 2 the command line is wrong, 3 running or writing failed,\n"
      "4 'metalloid check' found something.\n"
      "'metalloid COMMAND --help' explains a command.");
  int exit_code = exit_fine;
  std::vector<std::string> arguments = double_dashes(argc, argv);
  const std::vector<std::string> program = take_program(arguments);
  add_compile(app, exit_code);
  add_inspect(app, exit_code);
  add_run(app, exit_code);
  add_check(app, exit_code, program);
  add_tune(app, exit_code);
  add_bench(app, exit_code);
  add_devices(app, exit_code);
  add_sdk(app, exit_code, program);
  add_aten(app);

  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  app.failure_message([](const CLI::App* main, const CLI::Error& error) {
    const auto commands = main->get_subcommands();
    const std::string command = commands.empty() ? "metalloid" : "metalloid " + commands[0]->get_name();
    return fmt::format("{}: {} (see {} --help)\n", command, shortened(error.what(), 1000), command);
  });
  try {
    check_names(app, arguments);
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    std::ostringstream results, messages;
    const bool fine = app.exit(error, results, messages) == 0;  // --help and --version
    write_message(messages.str());
    write_result(results.str());
    return fine ? exit_fine : exit_usage;
  }
  return exit_code;
}

// Runs it and turns what it throws into a message and an exit code.
int explained(metalloid::support::function_ref<int()> action) {
  using namespace metalloid;
  using namespace metalloid::tool;
  constexpr std::size_t longest_message = 8000;  // bytes: names and texts of others may have megabytes
  try {
    return action();
  } catch (const UsageError& error) {
    print_message("metalloid: {}\n", error.what());
    return exit_usage;
  } catch (const Error& error) {
    const std::string_view text = error.what();
    if (error.code() == ErrorCode::compile_error) {  // the compiler's own log, which says "error:" itself
      write_message(text);
      if (!text.ends_with('\n')) write_message("\n");
      return exit_compile_error;
    }
    print_message("metalloid: {}{}\n", text.substr(0, longest_message), text.size() > longest_message ? "..." : "");
    return exit_run_error;
  } catch (const std::bad_alloc&) {
    write_message("metalloid: not enough memory\n");
    return exit_run_error;
  } catch (const std::exception& error) {
    print_message("metalloid: {}\n", error.what());
    return exit_run_error;
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace metalloid::tool;
  if (is_for_python(argc, argv)) return run_in_python(argc, argv);
  if (const sdk::Tool tool = sdk::tool_named(argv[0])) {
    prepare_standard_streams();
    return explained([&] { return tool({argv + 1, argv + argc}); });
  }
  prepare_standard_streams();
  int exit_code = explained([&] { return perform(argc, argv); });
  if (exit_code == exit_fine) {
    exit_code = explained([] {
      finish_results();
      return exit_fine;
    });
  }
  end_if_reader_is_gone();
  return exit_code;
}
