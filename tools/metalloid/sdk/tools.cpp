// The names under which the command line is another tool, and small ones of them.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "output.h"
#include "sdk/sdk.h"

namespace metalloid::tool::sdk {
namespace {

const std::vector<std::pair<std::string, Tool>>& tools() {
  static const std::vector<std::pair<std::string, Tool>> all = {
      {"metalloid-clang", run_clang}, {"metalloid-clang++", run_clang_plus_plus},
      {"xcrun", run_xcrun},           {"xcode-select", run_xcode_select},
      {"sw_vers", run_sw_vers},       {"metal", run_metal},
      {"metallib", run_metallib},     {"metal-ar", run_metal_ar},
      {"metal-nm", run_metal_nm},
  };
  return all;
}

// Tools that a Mac has under these names and Linux under others.
std::string name_here(const std::string& tool) {
  if (tool == "clang" || tool == "cc" || tool == "gcc") return "metalloid-clang";
  if (tool == "clang++" || tool == "c++" || tool == "g++") return "metalloid-clang++";
  return tool;
}

std::string path_of(const std::string& tool) {
  const std::string name = name_here(tool);
  if (tool_named(name) != nullptr) return (folder() / "bin" / name).string();
  const char* paths = std::getenv("PATH");
  const std::string all = paths != nullptr ? paths : "/usr/bin:/bin";
  for (std::size_t begin = 0; begin <= all.size();) {
    const std::size_t end = std::min(all.find(':', begin), all.size());
    const std::filesystem::path candidate = std::filesystem::path(all.substr(begin, end - begin)) / name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate.string();
    begin = end + 1;
  }
  return {};
}

int no_tool(const std::string& tool) {
  print_message("xcrun: error: unable to find utility \"{}\", not a developer tool or in PATH\n", shortened(tool));
  return 72;  // as xcrun ends
}

}  // namespace

Tool tool_named(std::string_view program) {
  const std::string_view name = program.substr(program.rfind('/') + 1);
  for (const auto& [known, tool] : tools()) {
    if (known == name) return tool;
  }
  return nullptr;
}

const std::vector<std::string>& tool_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, _] : tools()) all.push_back(name);
    return all;
  }();
  return names;
}

int become(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> all = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) all.push_back(const_cast<char*>(argument.c_str()));
  all.push_back(nullptr);
  ::execvp(program.c_str(), all.data());
  print_message("metalloid: {} cannot be started: {}\n", program, std::strerror(errno));
  return 127;
}

int run_xcrun(const std::vector<std::string>& arguments) {
  bool only_finds = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string argument = arguments[i];
    if (argument.starts_with("--")) argument.erase(0, 1);
    if (argument == "-sdk" || argument == "-toolchain") {
      ++i;
    } else if (argument == "-show-sdk-version" || argument == "-show-sdk-platform-version") {
      print_result("{}\n", macos_version);
      return 0;
    } else if (argument == "-show-sdk-build-version") {
      print_result("{}\n", macos_build);
      return 0;
    } else if (argument == "-show-sdk-path" || argument == "-show-sdk-platform-path") {
      print_result("{}\n", folder().string());
      return 0;
    } else if (argument == "-f" || argument == "-find") {
      only_finds = true;
    } else if (argument == "-version") {
      print_result("xcrun version 70.\n");
      return 0;
    } else if (argument == "-r" || argument == "-run" || argument == "-l" || argument == "-log" || argument == "-v" ||
               argument == "-verbose" || argument == "-n" || argument == "-no-cache" || argument == "-k" ||
               argument == "-kill-cache") {
      continue;
    } else if (argument.starts_with("-")) {
      print_message("xcrun: error: unknown option {}\n", shortened(arguments[i]));
      return 64;
    } else {
      const std::string path = path_of(arguments[i]);
      if (path.empty()) return no_tool(arguments[i]);
      if (only_finds) {
        print_result("{}\n", path);
        return 0;
      }
      if (const Tool own = tool_named(path)) {
        return own({arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end()});
      }
      return become(path, {arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end()});
    }
  }
  print_message("xcrun: error: specify a tool, or what to show\n");
  return 64;
}

int run_xcode_select(const std::vector<std::string>& arguments) {
  const std::string wish = arguments.empty() ? "" : arguments[0];
  if (wish == "-p" || wish == "--print-path") {
    print_result("{}\n", folder().string());
    return 0;
  }
  if (wish == "-v" || wish == "--version") {
    print_result("xcode-select version 2408.\n");
    return 0;
  }
  print_message("xcode-select: error: Metalloid's knows --print-path and --version\n");
  return 64;
}

int run_sw_vers(const std::vector<std::string>& arguments) {
  std::string wish = arguments.empty() ? "" : arguments[0];
  if (wish.starts_with("--")) wish.erase(0, 1);
  if (wish.empty()) {
    print_result("ProductName:\t\tmacOS\nProductVersion:\t\t{}\nBuildVersion:\t\t{}\n", macos_version, macos_build);
  } else if (wish == "-productName") {
    print_result("macOS\n");
  } else if (wish == "-productVersion") {
    print_result("{}\n", macos_version);
  } else if (wish == "-buildVersion") {
    print_result("{}\n", macos_build);
  } else {
    print_message("sw_vers: unknown option {}; known are -productName, -productVersion and -buildVersion\n",
                  shortened(arguments[0]));
    return 1;
  }
  return 0;
}

}  // namespace metalloid::tool::sdk
