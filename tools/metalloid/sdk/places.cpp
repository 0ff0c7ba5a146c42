// Where the installation has what the SDK consists of.
#include <dlfcn.h>

#include <system_error>

#include "metalloid/device.h"
#include "metalloid/error.h"
#include "sdk/sdk.h"

namespace metalloid::tool::sdk {

namespace fs = std::filesystem;

fs::path program() {
  std::error_code failed;
  fs::path path = fs::read_symlink("/proc/self/exe", failed);
  if (failed) throw Error(ErrorCode::input_output, "/proc/self/exe cannot be read: " + failed.message());
  return path;
}

fs::path libraries() {
  Dl_info info = {};
  const auto* const function = reinterpret_cast<const void*>(&Device::configured);
  if (::dladdr(function, &info) == 0 || info.dli_fname == nullptr) {
    throw Error(ErrorCode::internal, "libmetalloid.so does not know where it is");
  }
  std::error_code failed;
  const fs::path library = fs::canonical(info.dli_fname, failed);
  return (failed ? fs::absolute(info.dli_fname) : library).parent_path();
}

// In a wheel, under a prefix, in a build folder.
fs::path headers() {
  const fs::path above = program().parent_path().parent_path();
  std::error_code failed;
  for (const char* place : {"sdk/include", "share/metalloid/sdk/include", "python/metalloid/sdk/include"}) {
    fs::path folder = above / place;
    if (fs::is_regular_file(folder / "Metal/Metal.h", failed)) return fs::canonical(folder);
  }
  throw Error(ErrorCode::input_output, "this installation has no headers of Metal's host API beside " + above.string());
}

const std::vector<std::string>& frameworks() {
  static const std::vector<std::string> all = {"Foundation",
                                               "Metal",
                                               "MetalKit",
                                               "MetalPerformanceShaders",
                                               "MetalPerformanceShadersGraph",
                                               "QuartzCore",
                                               "CoreGraphics",
                                               "CoreFoundation",
                                               "IOKit",
                                               "IOSurface"};
  return all;
}

}  // namespace metalloid::tool::sdk
