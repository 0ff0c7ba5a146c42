// Bytes as a .npy file. It is refused with the tool's own error, or the array can be written and read again without a
// change.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "metalloid/error.h"
#include "npy.h"

namespace {

using namespace metalloid;

struct Folder {
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "npy_fuzzer.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path = name;
  }
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
  }
  std::filesystem::path path;
};

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  const auto file = folder.path / "given.npy", copy = folder.path / "copy.npy";
  std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  try {
    tool::Array array = tool::read_npy(file);
    tool::write_npy(copy, array);
    tool::Array again = tool::read_npy(copy);
    if (again.shape != array.shape) fail("another shape after writing");
    if (again.bytes != array.bytes) fail("other elements after writing");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::input_output) fail(error.what());
  }
  return 0;
}
