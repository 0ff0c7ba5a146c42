// Compiler options and function constants, from text to the library's types.
#include "options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>

#include "argument.h"

namespace metalloid::tool {
namespace {

LanguageVersion parse_standard(std::string_view text) {
  for (std::string_view prefix : {"macos-metal", "ios-metal", "metal"}) {
    if (!text.starts_with(prefix)) continue;
    const std::string_view digits = text.substr(prefix.size());
    if (digits.size() != 3 || digits[1] != '.') break;
    const LanguageVersion version{static_cast<std::uint8_t>(digits[0] - '0'),
                                  static_cast<std::uint8_t>(digits[2] - '0')};
    if (version < LanguageVersion{2, 0} || version > newest_language_version) break;
    return version;
  }
  throw UsageError(fmt::format("-std={}: known are metal2.0 to metal{}.{}", text, newest_language_version.major_version,
                               newest_language_version.minor_version));
}

template <typename T>
std::optional<T> parse_whole(std::string_view text) {
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

FunctionConstants::Value parse_value(std::string_view text, std::string_view whole) {
  if (text == "true") return true;
  if (text == "false") return false;
  std::vector<std::int64_t> integers;
  std::vector<double> floats;
  bool all_integers = true;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::string_view part = text.substr(start, end - start);
    auto number = parse_whole<double>(part);
    if (!number) throw UsageError(fmt::format("--constant {}: '{}' is not true, false or a number", whole, part));
    auto integer = parse_whole<std::int64_t>(part);
    all_integers = all_integers && integer;
    integers.push_back(integer.value_or(0));
    floats.push_back(*number);
    start = end + 1;
  }
  if (floats.size() == 1) {
    if (all_integers) return integers[0];
    return floats[0];
  }
  if (all_integers) return integers;
  return floats;
}

}  // namespace

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
    options.definitions.emplace_back(definition.substr(0, equals),
                                     equals == std::string::npos ? "1" : definition.substr(equals + 1));
  }
  for (const std::string& directory : flags.include_directories) options.include_directories.emplace_back(directory);
  options.warnings_as_errors = flags.warnings_as_errors;
  return options;
}

FunctionConstants parse_constants(const std::vector<std::string>& assignments) {
  FunctionConstants constants;
  for (const std::string& assignment : assignments) {
    const auto equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UsageError(fmt::format("--constant {}: give NAME=VALUE or INDEX=VALUE", assignment));
    }
    const std::string target = assignment.substr(0, equals);
    auto value = parse_value(std::string_view(assignment).substr(equals + 1), assignment);
    if (auto index = parse_whole<std::uint32_t>(target)) {
      constants.set(*index, std::move(value));
    } else {
      constants.set(target, std::move(value));
    }
  }
  return constants;
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

void show_warnings(const Library& library) {
  if (!library.warnings().empty()) fmt::print(stderr, "{}", library.warnings());
}

}  // namespace metalloid::tool
