// metallib, metal-ar, metal-nm: files of packed libraries.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "argument.h"
#include "metalloid/version.h"
#include "options.h"
#include "output.h"
#include "sdk/metal_files.h"
#include "sdk/sdk.h"

namespace metalloid::tool::sdk {
namespace {

int metallib(const std::vector<std::string>& arguments) {
  std::string output;
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "-o" && i + 1 < arguments.size()) {
      output = arguments[++i];
    } else if (arguments[i] == "--version" || arguments[i] == "-version") {
      print_result("Metalloid metallib version {}\n", version);
      return exit_fine;
    } else if (!arguments[i].starts_with('-')) {
      inputs.push_back(arguments[i]);
    }
  }
  if (inputs.empty()) throw UsageError("no input files");
  std::vector<PackedLibrary> all;
  for (const std::string& input : inputs) std::ranges::move(unpack_file(input), std::back_inserter(all));
  write_to(output.empty() ? "default.metallib" : output, pack(all));
  return exit_fine;
}

// metal-ar r[cs...] ARCHIVE FILE...
int metal_ar(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2) throw UsageError("usage: metal-ar rcs ARCHIVE FILE...");
  const bool adds = arguments[0].find_first_of("rq") != std::string::npos;
  if (!adds)
    throw UsageError(fmt::format("metal-ar {}: known is r, which puts files into an archive", shortened(arguments[0])));
  std::vector<PackedLibrary> all;
  std::error_code failed;
  if (std::filesystem::exists(arguments[1], failed)) all = unpack_file(arguments[1]);
  for (std::size_t i = 2; i < arguments.size(); ++i)
    std::ranges::move(unpack_file(arguments[i]), std::back_inserter(all));
  write_to(arguments[1], pack(all));
  return exit_fine;
}

int metal_nm(const std::vector<std::string>& arguments) {
  for (const std::string& path : arguments) {
    if (path.starts_with('-')) continue;
    for (const PackedLibrary& library : unpack_file(path)) {
      for (const std::string& name : library.kernel_names()) print_result("-------- T {}\n", printable_name(name));
    }
  }
  return exit_fine;
}

}  // namespace

int run_metallib(const std::vector<std::string>& arguments) { return reported("metallib", metallib, arguments); }
int run_metal_ar(const std::vector<std::string>& arguments) { return reported("metal-ar", metal_ar, arguments); }
int run_metal_nm(const std::vector<std::string>& arguments) { return reported("metal-nm", metal_nm, arguments); }

}  // namespace metalloid::tool::sdk
