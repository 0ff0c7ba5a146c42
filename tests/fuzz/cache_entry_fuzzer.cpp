// Bytes as reflection from the cache (runtime/compile/archive.h). They are refused, or what they say can be written and
// read again without a change.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "runtime/compile/archive.h"

namespace {

using namespace metalloid;

template <typename Info>
std::string written(Info& info) {
  runtime::Writer writer;
  runtime::archive(writer, info);
  return writer.take();
}

template <typename Info>
void try_as(std::string_view bytes) {
  Info info;
  runtime::Reader reader(bytes);
  try {
    runtime::archive(reader, info);
  } catch (const std::exception&) {
    return;
  }
  const std::string once = written(info);
  Info again;
  runtime::Reader second(once);
  runtime::archive(second, again);
  if (second.left() != 0 || written(again) != once || once != bytes.substr(0, bytes.size() - reader.left())) {
    std::fprintf(stderr, "read and written, the entry is another one\n");
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 3) {
    case 0: try_as<LibraryInfo>(bytes); break;
    case 1: try_as<KernelInfo>(bytes); break;
    default: try_as<TypeInfo>(bytes);
  }
  return 0;
}
