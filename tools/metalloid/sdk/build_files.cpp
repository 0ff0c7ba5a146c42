#include "sdk/build_files.h"

#include <string_view>

#include "sdk/sdk.h"

namespace metalloid::tool::sdk {
namespace {

// For projects that ask for what they need: find_library(Metal), enable_language(OBJC).
constexpr std::string_view linux_toolchain =
    R"(# cmake --toolchain: a project that finds Metal by find_library is built as on a Mac, for this machine.
set(METALLOID_SDK "@SDK@")
foreach(language C OBJC)
  set(CMAKE_${language}_COMPILER "${METALLOID_SDK}/bin/metalloid-clang")
endforeach()
foreach(language CXX OBJCXX)
  set(CMAKE_${language}_COMPILER "${METALLOID_SDK}/bin/metalloid-clang++")
endforeach()
set(CMAKE_FIND_FRAMEWORK FIRST)
list(PREPEND CMAKE_FRAMEWORK_PATH "${METALLOID_SDK}/Frameworks")
list(PREPEND CMAKE_PROGRAM_PATH "${METALLOID_SDK}/bin")
# Of this configuration: commands of the build find xcrun by the PATH that `metalloid sdk env` sets.
set(ENV{PATH} "${METALLOID_SDK}/bin:$ENV{PATH}")
)";

// For projects that ask whether they are on a Mac (APPLE, CMAKE_SYSTEM_NAME).
constexpr std::string_view darwin_toolchain = R"(# cmake --toolchain: CMake takes this machine for a Mac.
include("${CMAKE_CURRENT_LIST_DIR}/metalloid.cmake")
set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_VERSION 24.0.0)
set(CMAKE_SYSTEM_PROCESSOR arm64)
set(CMAKE_OSX_SYSROOT "" CACHE STRING "")
set(CMAKE_OSX_DEPLOYMENT_TARGET "" CACHE STRING "")
set(CMAKE_AR ar CACHE FILEPATH "")
set(CMAKE_RANLIB ranlib CACHE FILEPATH "")
set(CMAKE_INSTALL_NAME_TOOL true CACHE FILEPATH "")
# Libraries of Linux, where CMake looks for them on Linux.
list(APPEND CMAKE_SYSTEM_PREFIX_PATH /usr/local /usr)
list(APPEND CMAKE_SYSTEM_LIBRARY_PATH /usr/lib/@MACHINE@-linux-gnu)
set(CMAKE_FIND_LIBRARY_SUFFIXES .so .a .dylib .tbd)
)";

constexpr std::string_view meson_file = R"(# meson setup --native-file
[binaries]
c = '@SDK@/bin/metalloid-clang'
cpp = '@SDK@/bin/metalloid-clang++'
objc = '@SDK@/bin/metalloid-clang'
objcpp = '@SDK@/bin/metalloid-clang++'
xcrun = '@SDK@/bin/xcrun'
metal = '@SDK@/bin/metal'
metallib = '@SDK@/bin/metallib'
)";

#if defined(__aarch64__)
constexpr std::string_view machine = "aarch64";
#else
constexpr std::string_view machine = "x86_64";
#endif

std::string replaced(std::string_view text, std::string_view word, std::string_view by) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t place = text.find(word, begin);
    result += text.substr(begin, place - begin);
    if (place == std::string_view::npos) break;
    result += by;
    begin = place + word.size();
  }
  return result;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> build_files(const std::string& folder) {
  const auto made = [&](std::string_view text) {
    return replaced(replaced(text, "@SDK@", folder), "@MACHINE@", machine);
  };
  return {{"cmake/metalloid.cmake", made(linux_toolchain)},
          {"cmake/metalloid-darwin.cmake", made(darwin_toolchain)},
          {"meson/metalloid.ini", made(meson_file)}};
}

}  // namespace metalloid::tool::sdk
