#include "sdk/metal_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "argument.h"
#include "output.h"

namespace metalloid::tool::sdk {
namespace {

using namespace std::string_view_literals;

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [&](std::string_view begin) { return text.starts_with(begin); });
}

// What changes nothing here: warnings, debugging, targets, optimisation.
bool is_without_meaning(std::string_view option) {
  return starts_with_any(option, {"-W", "-O", "-g", "-f", "-mmacosx-version-min", "-mmacos-version-min",
                                  "-miphoneos-version-min", "-mios-version-min", "--target=", "-pedantic", "-ansi",
                                  "--driver-mode=", "-pipe", "-frecord-sources"}) ||
         option == "-v" || option == "-Winvalid-pch" || option == "-MG";
}
bool is_without_meaning_with_value(std::string_view option) {
  constexpr std::array all = {"-arch"sv,
                              "-target"sv,
                              "-isysroot"sv,
                              "-sdk"sv,
                              "-Xclang"sv,
                              "-mllvm"sv,
                              "-framework"sv,
                              "-serialize-diagnostics"sv,
                              "-index-store-path"sv,
                              "-install_name"sv};
  return std::ranges::find(all, option) != all.end();
}

class Arguments {
 public:
  explicit Arguments(const std::vector<std::string>& all) : all_(all) {}

  bool is_done() const { return next_ == all_.size(); }
  const std::string& take() { return all_[next_++]; }
  // "-Dname" or "-D name".
  std::optional<std::string> value_of(const std::string& argument, std::string_view option) {
    if (!argument.starts_with(option)) return std::nullopt;
    if (argument.size() > option.size()) return argument.substr(option.size());
    if (is_done()) throw UsageError(fmt::format("argument to '{}' is missing (expected 1 value)", option));
    return take();
  }

 private:
  const std::vector<std::string>& all_;
  std::size_t next_ = 0;
};

bool take_language(MetalSettings& settings, Arguments& arguments, const std::string& argument) {
  if (auto value = arguments.value_of(argument, "-D")) {
    settings.flags.definitions.push_back(*value);
  } else if (auto undefined = arguments.value_of(argument, "-U")) {
    std::erase_if(settings.flags.definitions,
                  [&](const std::string& one) { return one.substr(0, one.find('=')) == *undefined; });
  } else if (argument == "-isystem" || argument == "-iquote" || argument == "-idirafter") {
    settings.flags.include_directories.push_back(*arguments.value_of(argument, argument));
  } else if (argument == "-include") {
    settings.includes.push_back(*arguments.value_of(argument, argument));
  } else if (auto folder = arguments.value_of(argument, "-I")) {
    settings.flags.include_directories.push_back(*folder);
  } else if (argument.starts_with("-std=")) {
    settings.flags.standard = argument.substr(5);
  } else if (argument == "-ffast-math" || argument == "-fno-fast-math") {
    settings.flags.math_mode = argument == "-ffast-math" ? "fast" : "safe";
  } else if (argument.starts_with("-fmetal-math-mode=")) {
    settings.flags.math_mode = argument.substr(std::string_view("-fmetal-math-mode=").size());
  } else if (argument == "-Werror") {
    settings.flags.warnings_as_errors = true;
  } else {
    return false;
  }
  return true;
}

bool take_preprocessing(MetalSettings& settings, Arguments& arguments, const std::string& argument) {
  if (argument == "-E") {
    settings.wish = MetalWish::preprocess;
  } else if (argument == "-P") {
    settings.preprocess.line_marks = false;
  } else if (argument == "-C") {
    settings.preprocess.comments = true;
  } else if (argument == "-CC") {
    settings.preprocess.comments = settings.preprocess.macro_comments = true;
  } else if (argument == "-dM") {
    settings.preprocess.definitions_only = true;
  } else if (argument == "-H") {
    settings.lists_includes = true;
  } else if (argument == "-M" || argument == "-MM") {
    settings.wish = MetalWish::dependencies;
  } else if (argument == "-MD" || argument == "-MMD") {
    settings.writes_dependencies = true;
  } else if (argument == "-MP") {
    settings.names_all = true;
  } else if (argument == "-MF" || argument == "-MJ") {
    settings.dependency_file = *arguments.value_of(argument, argument);
  } else if (argument == "-MT" || argument == "-MQ") {
    settings.dependency_target = *arguments.value_of(argument, argument);
  } else {
    return false;
  }
  return true;
}

}  // namespace

MetalSettings metal_settings(const std::vector<std::string>& all) {
  MetalSettings settings;
  Arguments arguments(all);
  while (!arguments.is_done()) {
    const std::string argument = arguments.take();
    if (take_language(settings, arguments, argument) || take_preprocessing(settings, arguments, argument)) continue;
    if (argument == "-c" || argument == "-S") {
      settings.wish = MetalWish::compile;
    } else if (argument == "-fsyntax-only") {
      settings.wish = MetalWish::check;
    } else if (argument == "--version" || argument == "-v" || argument == "-dumpversion") {
      settings.wish = MetalWish::version;
    } else if (argument == "-w") {
      settings.is_quiet = true;
    } else if (auto output = arguments.value_of(argument, "-o")) {
      settings.output = *output;
    } else if (argument.starts_with("-x")) {
      const std::string language = *arguments.value_of(argument, "-x");
      if (language != "metal" && language != "none") {
        throw UsageError(fmt::format("language not recognized: '{}'", shortened(language)));
      }
    } else if (is_without_meaning_with_value(argument)) {
      (void)arguments.value_of(argument, argument);
    } else if (argument == "-" || !argument.starts_with('-')) {
      settings.inputs.push_back(argument);
    } else if (!is_without_meaning(argument)) {
      throw UsageError(fmt::format("unknown argument: '{}'", shortened(argument)));
    }
  }
  return settings;
}

}  // namespace metalloid::tool::sdk
