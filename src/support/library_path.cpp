#include "support/library_path.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

namespace metalloid::support {

std::string library_path() {
  Dl_info info;
  if (::dladdr(reinterpret_cast<const void*>(&library_path), &info) == 0 || !info.dli_fname) return {};
  std::error_code error;
  return std::filesystem::absolute(info.dli_fname, error).string();
}

}  // namespace metalloid::support
