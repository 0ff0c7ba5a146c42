// The compiler's service of macOS, which programs call that compile without a device: a source and options in, a
// library in bytes out. Apple documents neither; this is what its callers rely on.
//
//   request   u64 size of the source, u64 size of the options, both with their zeros, then they themselves
//   reply     two words, u32 size of this header, u32 size of the warnings, then the warnings and the library
#include <array>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>

#include "metal/objc/runtime.h"
#include "metalloid/metal/objects.h"
#include "metalloid/packed_library.h"

namespace metalloid::metal {
namespace {

// The callback is a block; of some callers no more than its function is there.
using Callback = void (*)(void* block, std::int32_t error, const void* data, std::size_t size, const char* message);

struct Request {
  std::string source;
  CompileOptions options;
};

CompileOptions options_of(const std::string& text) {
  CompileOptions options = program_options();
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word == "-fno-fast-math" || word == "-fmetal-math-mode=safe") options.math_mode = MathMode::safe;
    if (word == "-fmetal-math-mode=relaxed") options.math_mode = MathMode::relaxed;
    // -std=metal3.1, -std=macos-metal2.4
    const std::size_t number = word.starts_with("-std=") ? word.find("metal") : std::string::npos;
    if (number != std::string::npos && word.size() == number + 8 && word[number + 6] == '.') {
      options.language = {static_cast<std::uint8_t>(word[number + 5] - '0'),
                          static_cast<std::uint8_t>(word[number + 7] - '0')};
    }
    if (word.starts_with("-D") && word.size() > 2) {
      const std::size_t sign = word.find('=');
      options.definitions.emplace_back(word.substr(2, sign - 2),
                                       sign == std::string::npos ? "1" : word.substr(sign + 1));
    }
  }
  return options;
}

Request parsed(std::string_view bytes) {
  std::array<std::uint64_t, 2> sizes = {};
  if (bytes.size() < sizeof sizes) throw Error(ErrorCode::invalid_argument, "the request is too short");
  std::memcpy(sizes.data(), bytes.data(), sizeof sizes);
  bytes.remove_prefix(sizeof sizes);
  if (sizes[0] > bytes.size() || sizes[1] > bytes.size() - sizes[0]) {
    throw Error(ErrorCode::invalid_argument, "the request ends before its source and options do");
  }
  const std::string_view source = bytes.substr(0, sizes[0]), options = bytes.substr(sizes[0], sizes[1]);
  return {std::string(source.substr(0, source.find('\0'))),
          options_of(std::string(options.substr(0, options.find('\0'))))};
}

std::string reply_with(const Library& library) {
  const std::string& warnings = library.warnings();
  const std::array<std::uint32_t, 4> header = {0, 0, sizeof header, static_cast<std::uint32_t>(warnings.size())};
  return std::string(reinterpret_cast<const char*>(header.data()), sizeof header) + warnings + pack(library);
}

}  // namespace
}  // namespace metalloid::metal

extern "C" {

void* MTLCodeGenServiceCreate(const char*) {
  static char one;  // it has no state
  return &one;
}

void MTLCodeGenServiceDestroy(void*) {}

void MTLCodeGenServiceBuildRequest(void*, void*, std::int32_t, const void* request, std::size_t size, void* block) {
  using namespace metalloid::metal;
  const auto call = reinterpret_cast<Callback>(static_cast<metalloid::objective_c::Block*>(block)->invoke);
  try {
    const auto [source, options] = parsed({static_cast<const char*>(request), size});
    const metalloid::Library library = default_device()->device.make_library(source, options);
    (void)library.info();  // what is wrong inside of templates, too
    const std::string reply = reply_with(library);
    call(block, 0, reply.data(), reply.size(), nullptr);
  } catch (const std::exception& error) {
    call(block, 1, nullptr, 0, error.what());
  }
}
}
