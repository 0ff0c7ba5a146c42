// metalloid-clang and metalloid-clang++: Clang 22 with a Mac's arguments.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "output.h"
#include "sdk/clang_arguments.h"
#include "sdk/sdk.h"

namespace metalloid::tool::sdk {
namespace {

// A file in memory with the source as Linux' assembler takes it; nothing for one that is such already. Programs that
// this one becomes have it too.
std::string assembly_in_memory(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  const std::string source(std::istreambuf_iterator<char>(file), {});
  const std::string text = assembly_for_linux(source);
  if (text == source) return {};
  const int memory = ::memfd_create("assembly", 0);
  if (memory < 0 || ::write(memory, text.data(), text.size()) != static_cast<ssize_t>(text.size())) return {};
  return fmt::format("/proc/self/fd/{}", memory);
}

// $METALLOID_CLANG, else where Debian's packages put it, else that of the PATH.
std::string compiler(bool is_cpp) {
  const char* chosen = std::getenv("METALLOID_CLANG");
  const std::string of_package = "/usr/lib/llvm-22/bin/clang";
  std::string path = ::access(of_package.c_str(), X_OK) == 0 ? of_package : "clang-22";
  if (chosen != nullptr && *chosen != '\0') path = chosen;
  const std::size_t name = path.rfind("clang");
  if (is_cpp && name != std::string::npos) path.replace(name, std::string_view("clang").size(), "clang++");
  return path;
}

int run(const std::vector<std::string>& arguments, bool is_cpp) {
  const ClangPlaces places = {headers(), folder() / "Frameworks", libraries()};
  const ClangArguments translated = clang_arguments(arguments, is_cpp, places, assembly_in_memory);
  if (!translated.refusal.empty()) {
    print_message("metalloid-clang: error: {}\n", translated.refusal);
    return 1;
  }
  const int code = become(compiler(is_cpp), translated.arguments);
  print_message(
      "metalloid-clang: it stands on Clang 22 (Debian: clang-22, libc++-22-dev); METALLOID_CLANG names "
      "another\n");
  return code;
}

}  // namespace

int run_clang(const std::vector<std::string>& arguments) { return run(arguments, false); }
int run_clang_plus_plus(const std::vector<std::string>& arguments) { return run(arguments, true); }

}  // namespace metalloid::tool::sdk
