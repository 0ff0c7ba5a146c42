// .npy: "\x93NUMPY", major, minor, header length (2 bytes in version 1, else 4), then a Python dictionary
// {'descr': '<f4', 'fortran_order': False, 'shape': (8, 1024), } padded with spaces, then the data.
#include "npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "files.h"
#include "metalloid/error.h"
#include "npy_header.h"
#include "output.h"

namespace metalloid::tool {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& reason) {
  throw Error(ErrorCode::input_output, fmt::format("{}: {}", printable_name(file.string()), shortened(reason, 1000)));
}

// The element kind of a plain type string; element_size() has refused what no file holds.
ElementType kind_of(std::string_view type) {
  const ElementType kind =
      find_element_type([&](const ElementTypeInfo& info) { return info.npy_name == type.substr(1); });
  if (kind != ElementType::none && kind <= ElementType::float32) return kind;
  if (kind == ElementType::float64) {
    throw HeaderError("64-bit floats do not exist in Metal; save it with array.astype('float32')");
  }
  throw HeaderError(fmt::format("element type '{}' is not supported (supported: {})", type, kind_names()));
}

// An array without its bytes. Complex numbers are pairs; structured and void types are their bytes.
Array described(const NpyHeader& header) {
  const std::size_t size = element_size(header.type);
  Array array;
  array.shape.assign(header.shape.begin(), header.shape.end());
  if (array.shape.size() > largest_rank) {
    throw HeaderError(fmt::format("it has {} dimensions, more than {}", array.shape.size(), largest_rank));
  }
  const std::string& name = header.type.name;
  if (name == "<c8") {
    array.kind = ElementType::float32;
    array.shape.push_back(2);
  } else if (name.empty() || name.starts_with("|V")) {
    array.kind = ElementType::uint8;
    array.shape.push_back(size);
  } else {
    array.kind = kind_of(name);
  }
  if (header.fortran_order && header.shape.size() > 1) {
    throw HeaderError("Fortran order is not supported; save it with numpy.ascontiguousarray(array)");
  }
  return array;
}

// Bytes, or nothing for more than a file can have. An extent of 0 makes all of it empty.
std::optional<std::size_t> size_in_bytes(const Array& array) {
  std::size_t size = size_of(array.kind);
  for (std::size_t extent : array.shape) {
    if (extent != 0 && size > (std::size_t{1} << 50) / extent) return std::nullopt;
    size *= extent;
  }
  return size;
}

std::string descr_of(ElementType kind) {
  return fmt::format("{}{}", size_of(kind) == 1 ? '|' : '<', info_of(kind).npy_name);
}

std::string npy_header(const Array& array) {
  std::string shape;
  for (std::size_t extent : array.shape) shape += fmt::format("{},{}", extent, array.shape.size() > 1 ? " " : "");
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr_of(array.kind), shape);
  const std::size_t prefix = magic.size() + 4;
  header.append((64 - (prefix + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::string bytes(magic);
  bytes += {'\x01', '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return bytes + header;
}

}  // namespace

Array read_npy(const std::filesystem::path& file) {
  InputFile input(file);
  unsigned char start[12];
  const std::size_t got = input.read(start, 8);
  if (got < 8 || std::string_view(reinterpret_cast<char*>(start), magic.size()) != magic) {
    fail(file, "is not a .npy file (it does not begin with \\x93NUMPY)");
  }
  const int version = start[6];
  if (version < 1 || version > 3) fail(file, fmt::format(".npy format version {} is not supported", version));
  const std::size_t length_size = version == 1 ? 2 : 4;
  if (input.read(start + 8, length_size) < length_size) fail(file, "is cut off in its header");
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_size; ++i) length |= std::size_t{start[8 + i]} << (8 * i);
  if (length > (1 << 20)) fail(file, "its header is implausibly long");
  std::string header(length, '\0');
  if (input.read(header.data(), length) < length) fail(file, "is cut off in its header");

  Array array;
  std::optional<std::size_t> size;
  try {
    array = described(parse_npy_header(header));
    size = size_in_bytes(array);
    if (!size) throw HeaderError("its shape is implausibly large");
  } catch (const HeaderError& error) {
    fail(file, error.what());
  }
  const std::size_t available = input.size() - std::min(input.size(), 8 + length_size + length);
  if (available < *size) fail(file, fmt::format("is cut off: {} bytes of data, its shape needs {}", available, *size));
  if (*size > largest_array()) {
    fail(file, fmt::format("the array is larger than half of this machine's memory, {} MiB", largest_array() >> 20));
  }
  array.bytes.resize(*size);
  if (input.read(array.bytes.data(), *size) < *size) fail(file, "was cut off while it was read");
  return array;
}

void write_npy(OutputFile& file, const Array& array) {
  file.write(npy_header(array));
  file.write({reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()});
  file.finish();
}

void write_npy(const std::filesystem::path& path, const Array& array) {
  OutputFile file(path);
  write_npy(file, array);
}

}  // namespace metalloid::tool
