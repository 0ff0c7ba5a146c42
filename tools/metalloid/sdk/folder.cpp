// The SDK's folder: links to what the installation has, and files for build systems.
//
//   bin/         the tools by their names         Frameworks/  X.framework with Headers and a library
//   include/     Apple's headers                  cmake/       toolchain files: metalloid.cmake, metalloid-darwin.cmake
//   lib/         libraries by their names         meson/       metalloid.ini, a cross file
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <system_error>

#include "metalloid/error.h"
#include "metalloid/version.h"
#include "sdk/build_files.h"
#include "sdk/sdk.h"

namespace metalloid::tool::sdk {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Of this installation: others of the same user have theirs.
fs::path place() {
  if (const std::string chosen = variable("METALLOID_SDK"); !chosen.empty()) return fs::absolute(chosen);
  fs::path data = variable("XDG_DATA_HOME");
  if (!data.is_absolute()) {
    const std::string home = variable("HOME");
    if (home.empty()) {
      throw Error(ErrorCode::input_output, "there is no place for the SDK: neither HOME nor METALLOID_SDK is set");
    }
    data = fs::path(home) / ".local/share";
  }
  const std::size_t number = std::hash<std::string>()(libraries().string());
  return data / "metalloid" / fmt::format("sdk-{}-{:08x}", version, number & 0xffffffff);
}

// What a folder that is there must have been made from.
std::string stamp() {
  return fmt::format("{}\n{}\n{}\n{}\n", version, program().string(), libraries().string(), headers().string());
}

void write(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error(ErrorCode::input_output, fmt::format("{} cannot be written", path.string()));
}

void link(const fs::path& to, const fs::path& path) {
  fs::create_directories(path.parent_path());
  fs::create_symlink(to, path);
}

void fill(const fs::path& folder, const fs::path& final_place) {
  const fs::path library = libraries() / "libmetalloid_metal.so";
  for (const std::string& tool : tool_names()) link(program(), folder / "bin" / tool);
  link(program(), folder / "bin" / "metalloid");
  link(headers(), folder / "include");
  for (const std::string& name : frameworks()) {
    const fs::path framework = folder / "Frameworks" / (name + ".framework");
    fs::create_directories(framework);
    std::error_code failed;
    if (fs::is_directory(headers() / name, failed)) link(headers() / name, framework / "Headers");
    link(library, framework / name);
    link(library, folder / "lib" / ("lib" + name + ".so"));
  }
  for (const char* name : {"objc", "dispatch", "BlocksRuntime", "System", "MTLCompiler"}) {
    link(library, folder / "lib" / fmt::format("lib{}.so", name));
  }
  link(library, folder / "lib" / "libobjc.so.4");  // the name that loaders of Objective-C on Linux look for
  link(library, folder / "lib" / library.filename());
  link(libraries() / "libmetalloid.so", folder / "lib" / "libmetalloid.so");
  for (const auto& [name, text] : build_files(final_place.string())) write(folder / name, text);
  write(folder / "made-from", stamp());
}

bool is_current(const fs::path& folder) {
  std::ifstream file(folder / "made-from", std::ios::binary);
  return file && std::string(std::istreambuf_iterator<char>(file), {}) == stamp();
}

// Beside its place first, so that others never see a part of it.
void make(const fs::path& folder) {
  fs::create_directories(folder.parent_path());
  const fs::path beside = folder.string() + fmt::format(".{}", ::getpid());
  std::error_code ignored;
  fs::remove_all(beside, ignored);
  try {
    fill(beside, folder);
    fs::remove_all(folder, ignored);
    std::error_code failed;
    fs::rename(beside, folder, failed);
    if (failed && !is_current(folder)) {  // else another process was faster
      throw Error(ErrorCode::input_output, fmt::format("{} cannot be made: {}", folder.string(), failed.message()));
    }
  } catch (const fs::filesystem_error& error) {
    fs::remove_all(beside, ignored);
    throw Error(ErrorCode::input_output, fmt::format("{} cannot be made: {}", folder.string(), error.what()));
  }
  fs::remove_all(beside, ignored);
}

}  // namespace

const fs::path& folder() {
  static const fs::path made = [] {
    fs::path folder = place();
    if (!is_current(folder)) {
      std::error_code failed;
      const bool is_others =
          fs::exists(folder, failed) && !fs::exists(folder / "made-from", failed) && !fs::is_empty(folder, failed);
      if (is_others) {
        throw Error(ErrorCode::input_output,
                    fmt::format("{} has other files; METALLOID_SDK names a folder of its own", folder.string()));
      }
      make(folder);
    }
    return folder;
  }();
  return made;
}

}  // namespace metalloid::tool::sdk
