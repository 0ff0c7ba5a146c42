#include "sdk/metal_files.h"

#include <fmt/format.h>

#include <exception>

#include "files.h"
#include "metalloid/error.h"
#include "options.h"
#include "output.h"

namespace metalloid::tool::sdk {
namespace {

std::string read_bytes(const std::string& path) {
  InputFile file(path);
  std::string bytes(file.size(), '\0');
  bytes.resize(file.read(bytes.data(), bytes.size()));
  return bytes;
}

}  // namespace

std::vector<PackedLibrary> unpack_file(const std::string& path) {
  const std::string bytes = read_bytes(path);
  try {
    return unpack(bytes);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", path, error.what()));
  }
}

void write_to(const std::string& path, std::string_view bytes) {
  if (path.empty() || path == "-") return write_raw_result(bytes);
  OutputFile file(path);
  file.write(bytes);
  file.finish();
}

int reported(std::string_view tool, int (*run)(const std::vector<std::string>&),
             const std::vector<std::string>& arguments) {
  try {
    const int code = run(arguments);
    finish_results();
    return code;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::compile_error) {
      write_message(error.what());
    } else {
      print_message("{}: error: {}\n", tool, error.what());
    }
  } catch (const std::exception& error) {  // UsageError is one
    print_message("{}: error: {}\n", tool, error.what());
  }
  return exit_compile_error;
}

}  // namespace metalloid::tool::sdk
