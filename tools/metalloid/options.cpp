// Compiler options, from text to the library's types.
#include "options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <regex>
#include <string_view>
#include <utility>

#include "argument.h"
#include "files.h"
#include "numbers.h"
#include "output.h"

namespace metalloid::tool {
namespace {

LanguageVersion parse_standard(std::string_view text) {
  for (std::string_view prefix : {"macos-metal", "ios-metal", "metal"}) {
    if (!text.starts_with(prefix)) continue;
    const std::string_view digits = text.substr(prefix.size());
    if (digits.size() != 3 || digits[1] != '.') break;
    const LanguageVersion version{static_cast<std::uint8_t>(digits[0] - '0'),
                                  static_cast<std::uint8_t>(digits[2] - '0')};
    static constexpr std::array<LanguageVersion, 9> known = {
        {{2, 0}, {2, 1}, {2, 2}, {2, 3}, {2, 4}, {3, 0}, {3, 1}, {3, 2}, newest_language_version}};
    if (std::ranges::find(known, version) != known.end()) return version;
    break;
  }
  throw UsageError(fmt::format("-std={}: known are metal2.0 to metal2.4, metal3.0 to metal3.2 and metal{}.{}",
                               shortened(text), newest_language_version.major_version,
                               newest_language_version.minor_version));
}

// -D NAME, or -D 'NAME(PARAMETERS)'; what else would become lines of the source.
void check_macro(std::string_view definition, std::string_view macro) {
  static const std::regex name("[A-Za-z_][A-Za-z_0-9]*(\\([A-Za-z_0-9, .]*\\))?");
  if (macro.size() > 1000 || !std::regex_match(macro.begin(), macro.end(), name)) {
    throw UsageError(fmt::format("-D {}: '{}' is no name of a macro", shortened(definition), shortened(macro)));
  }
  if (definition.find_first_of(std::string_view("\n\r\0", 3)) != std::string_view::npos) {
    throw UsageError(fmt::format("-D {}: a macro has one line", shortened(definition)));
  }
}

}  // namespace

void add_whole_number(CLI::App& command, const std::string& name, const std::string& description,
                      std::uint64_t smallest, std::uint64_t largest, const std::function<void(std::uint64_t)>& set) {
  auto parse = [=](const std::string& text) {
    const auto number = parse_number<std::uint64_t>(text);
    if (!number || *number < smallest || *number > largest) {
      throw UsageError(
          fmt::format("{} {}: give a whole number from {} to {}", name, shortened(text), smallest, largest));
    }
    set(*number);
  };
  command.add_option_function<std::string>(name, parse, description)->type_name("UINT");
}

void add_real_number(CLI::App& command, const std::string& name, const std::string& description, double largest,
                     const std::function<void(double)>& set) {
  auto parse = [=](const std::string& text) {
    const auto number = parse_number<double>(text);
    if (!number || !(*number >= 0 && *number <= largest)) {  // not-a-number is in no range
      throw UsageError(fmt::format("{} {}: give a number from 0 to {}", name, shortened(text), largest));
    }
    set(*number);
  };
  command.add_option_function<std::string>(name, parse, description)->type_name("FLOAT");
}

void add_compiler_flags(CLI::App& command, CompilerFlags& flags) {
  command
      .add_option("--std", flags.standard, "Language version, as -std=metal2.4 ... -std=metal4.0 (default: metal3.2)")
      ->group("Compiler options");
  command.add_option("-D", flags.definitions, "Define a macro: -DNAME or -DNAME=VALUE")
      ->allow_extra_args(false)
      ->group("Compiler options");
  command.add_option("-I", flags.include_directories, "Search this folder for #include")
      ->allow_extra_args(false)
      ->group("Compiler options");
  command
      .add_option("--fmetal-math-mode", flags.math_mode,
                  "Floating-point rules, as -fmetal-math-mode=safe|relaxed|fast (default: fast)")
      ->group("Compiler options");
  command.add_flag("--Werror", flags.warnings_as_errors, "Treat warnings as errors (also -Werror)")
      ->group("Compiler options");
  command
      .add_option("--thread-overruns", flags.thread_overruns,
                  "What an access outside of a thread's own variable does: fail, or ignore, as in programs for Metal's "
                  "host API (default: fail)")
      ->check(CLI::IsMember({"fail", "ignore"}))
      ->group("Compiler options");
}

CompileOptions compile_options(const CompilerFlags& flags) {
  CompileOptions options;
  if (!flags.standard.empty()) options.language = parse_standard(flags.standard);
  if (flags.math_mode == "safe") {
    options.math_mode = MathMode::safe;
  } else if (flags.math_mode == "relaxed") {
    options.math_mode = MathMode::relaxed;
  } else if (!flags.math_mode.empty() && flags.math_mode != "fast") {
    throw UsageError(fmt::format("-fmetal-math-mode={}: known are safe, relaxed and fast", flags.math_mode));
  }
  for (const std::string& definition : flags.definitions) {
    const auto equals = definition.find('=');
    check_macro(definition, definition.substr(0, equals));
    options.definitions.emplace_back(definition.substr(0, equals),
                                     equals == std::string::npos ? "1" : definition.substr(equals + 1));
  }
  for (const std::string& folder : flags.include_directories) {
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error)) {
      // Metal's compiler takes it; whoever wrote it hardly meant it.
      print_message("metalloid: warning: -I '{}' is no folder\n", shortened(folder));
    }
    options.include_directories.emplace_back(folder);
  }
  options.warnings_as_errors = flags.warnings_as_errors;
  if (flags.thread_overruns == "ignore") options.thread_overruns = ThreadOverruns::ignore;
  return options;
}

std::vector<std::string> double_dashes(int argc, char** argv) {
  std::vector<std::string> arguments;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (argument == "-ffast-math") {
      arguments.emplace_back("--fmetal-math-mode=fast");
    } else if (argument == "-fno-fast-math") {
      arguments.emplace_back("--fmetal-math-mode=safe");
    } else if (argument.starts_with("-std") || argument.starts_with("-fmetal-math-mode") || argument == "-Werror") {
      arguments.push_back(fmt::format("-{}", argument));
    } else {
      arguments.emplace_back(argument);
    }
  }
  return arguments;
}

Library load_source(const Device& device, const std::string& file, const CompilerFlags& flags) {
  const std::string reason = reason_not_source(file);
  if (!reason.empty()) throw UsageError(fmt::format("'{}' cannot be read: {}", shortened(file), reason));
  const Library library = device.load_library(file, compile_options(flags));
  write_message(library.warnings());
  return library;
}

}  // namespace metalloid::tool
