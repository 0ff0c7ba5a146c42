// metal: Metal sources to .air and .metallib files (metalloid/packed_library.h).
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "argument.h"
#include "files.h"
#include "metalloid/library_outline.h"
#include "metalloid/packed_library.h"
#include "metalloid/preprocess.h"
#include "metalloid/version.h"
#include "output.h"
#include "sdk/metal_arguments.h"
#include "sdk/metal_files.h"
#include "sdk/sdk.h"

namespace metalloid::tool::sdk {
namespace {

namespace fs = std::filesystem;

struct Source {
  std::string text;
  CompileOptions options;
};

Source read_source(const MetalSettings& settings, const std::string& input) {
  Source source;
  // Apple's compiler passes over what is no folder, and builds read what it prints.
  CompilerFlags flags = settings.flags;
  std::erase_if(flags.include_directories, [](const std::string& folder) {
    std::error_code failed;
    return !fs::is_directory(folder, failed);
  });
  source.options = compile_options(flags);
  if (input == "-") {
    source.text.assign(std::istreambuf_iterator<char>(std::cin), {});
    source.options.source_name = "<stdin>";
  } else {
    const std::string reason = reason_not_source(input);
    if (!reason.empty()) throw UsageError(fmt::format("'{}' cannot be read: {}", shortened(input), reason));
    std::ifstream file(input, std::ios::binary);
    source.text.assign(std::istreambuf_iterator<char>(file), {});
    source.options.source_name = input;
    source.options.source_file = input;
  }
  if (settings.includes.empty()) return source;
  std::string before;
  for (const std::string& name : settings.includes) before += fmt::format("#include \"{}\"\n", name);
  source.text = fmt::format("{}#line 1 \"{}\"\n{}", before, source.options.source_name, source.text);
  return source;
}

std::string in_makefile(std::string_view path) {
  std::string text;
  for (const char letter : path) {
    if (letter == ' ' || letter == '#') text += '\\';
    if (letter == '$') text += '$';
    text += letter;
  }
  return text;
}

void write_dependencies(const MetalSettings& settings, const std::string& input, const std::string& output,
                        const std::vector<std::string>& files) {
  const std::string target = settings.dependency_target.empty() ? output : settings.dependency_target;
  std::string text = fmt::format("{}: {}", in_makefile(target), in_makefile(input));
  for (const std::string& file : files) text += fmt::format(" \\\n  {}", in_makefile(file));
  text += '\n';
  for (const std::string& file : files) {
    if (settings.names_all) text += fmt::format("{}:\n", in_makefile(file));
  }
  const bool is_result = settings.wish == MetalWish::dependencies && settings.dependency_file.empty();
  const std::string beside = is_result ? settings.output : fs::path(output).replace_extension(".d").string();
  write_to(settings.dependency_file.empty() ? beside : settings.dependency_file, text);
}

// With all kernels' code looked at, as a compiler does.
Library compiled(const MetalSettings& settings, const std::string& input) {
  Source source = read_source(settings, input);
  source.options.thread_overruns = ThreadOverruns::ignore;  // as where programs compile
  Library library = Device::cpu().make_library(source.text, source.options);
  (void)library.info();
  if (!settings.is_quiet) write_message(library.warnings());
  for (const UnsupportedFunction& function : unsupported_functions_of(library)) {
    print_message("{}: note: '{}' is not supported: {}\n", shortened(input), printable_name(function.name),
                  function.reason);
  }
  return library;
}

void preprocess_all(const MetalSettings& settings) {
  std::string text;
  for (const std::string& input : settings.inputs) {
    const Source source = read_source(settings, input);
    PreprocessOptions options = settings.preprocess;
    options.compile = source.options;
    const PreprocessedSource result = preprocess(source.text, options);
    if (!settings.is_quiet) write_message(result.warnings);
    std::vector<std::string> files;
    for (const PreprocessedSource::Include& include : result.includes) {
      if (settings.lists_includes) print_message("{} {}\n", std::string(include.depth, '.'), include.path);
      files.push_back(include.path);
    }
    if (settings.wish == MetalWish::dependencies || settings.writes_dependencies) {
      const std::string output = settings.output.empty() || settings.wish == MetalWish::dependencies
                                     ? fs::path(input).filename().replace_extension(".air").string()
                                     : settings.output;
      write_dependencies(settings, input, output, files);
    }
    text += result.text;
  }
  if (settings.wish == MetalWish::preprocess) write_to(settings.output, text);
}

bool is_packed_file(const std::string& path) {
  return path.ends_with(".air") || path.ends_with(".metallib") || path.ends_with(".metalar") || path.ends_with(".a");
}

void compile_each(const MetalSettings& settings) {
  if (settings.inputs.size() > 1 && !settings.output.empty()) {
    throw UsageError("cannot specify -o when generating multiple output files");
  }
  for (const std::string& input : settings.inputs) {
    const Library library = compiled(settings, input);
    const std::string output =
        settings.output.empty() ? fs::path(input == "-" ? "-.air" : input).filename().replace_extension(".air").string()
                                : settings.output;
    write_to(output, pack(library));
    if (settings.writes_dependencies) write_dependencies(settings, input, output, included_files_of(library));
  }
}

void link(const MetalSettings& settings) {
  std::vector<PackedLibrary> all;
  for (const std::string& input : settings.inputs) {
    auto parts = is_packed_file(input) ? unpack_file(input) : unpack(pack(compiled(settings, input)));
    std::ranges::move(parts, std::back_inserter(all));
  }
  write_to(settings.output.empty() ? "default.metallib" : settings.output, pack(all));
}

int metal(const std::vector<std::string>& arguments) {
  const MetalSettings settings = metal_settings(arguments);
  if (settings.wish == MetalWish::version) {
    print_result(
        "Metalloid metal version {}\nTarget: air64-apple-darwin24.0.0\nThread model: posix\nInstalledDir: {}\n",
        version, (folder() / "bin").string());
    return exit_fine;
  }
  if (settings.inputs.empty()) throw UsageError("no input files");
  switch (settings.wish) {
    case MetalWish::preprocess:
    case MetalWish::dependencies: preprocess_all(settings); break;
    case MetalWish::compile: compile_each(settings); break;
    case MetalWish::check:
      for (const std::string& input : settings.inputs) (void)compiled(settings, input);
      break;
    default: link(settings);
  }
  return exit_fine;
}

}  // namespace

int run_metal(const std::vector<std::string>& arguments) { return reported("metal", metal, arguments); }

}  // namespace metalloid::tool::sdk
