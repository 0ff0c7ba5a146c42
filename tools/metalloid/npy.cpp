// .npy: "\x93NUMPY", major, minor, header length (2 bytes in version 1, else 4), then a Python dictionary
// {'descr': '<f4', 'fortran_order': False, 'shape': (8, 1024), } padded with spaces, then the data.
#include "npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "metalloid/error.h"

namespace metalloid::tool {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

[[noreturn]] void fail(const std::filesystem::path& file, const std::string& reason) {
  throw Error(ErrorCode::input_output, fmt::format("{}: {}", file.string(), reason));
}

// The text after "'key':", without leading spaces. A structured type may have a member of that name, without a colon.
std::optional<std::string_view> value_of(std::string_view header, std::string_view key) {
  for (char quote : {'\'', '"'}) {
    const std::string quoted = fmt::format("{}{}{}", quote, key, quote);
    for (auto at = header.find(quoted); at != std::string_view::npos; at = header.find(quoted, at + 1)) {
      std::string_view rest = header.substr(at + quoted.size());
      const auto start = rest.find_first_not_of(" \t");
      if (start == std::string_view::npos || rest[start] != ':') continue;
      rest.remove_prefix(start + 1);
      const auto first = rest.find_first_not_of(" \t");
      if (first != std::string_view::npos) return rest.substr(first);
    }
  }
  return std::nullopt;
}

ScalarKind parse_descr(const std::filesystem::path& file, std::string_view descr) {
  if (descr.size() >= 2 && descr[0] == '>' && descr.substr(1) != "i1" && descr.substr(1) != "u1") {
    fail(file, fmt::format("big-endian data ('{}') is not supported; save it with array.astype('<{}')", descr,
                           descr.substr(1)));
  }
  static constexpr std::pair<std::string_view, ScalarKind> known[] = {
      {"b1", ScalarKind::boolean}, {"i1", ScalarKind::int8},    {"u1", ScalarKind::uint8},  {"i2", ScalarKind::int16},
      {"u2", ScalarKind::uint16},  {"i4", ScalarKind::int32},   {"u4", ScalarKind::uint32}, {"i8", ScalarKind::int64},
      {"u8", ScalarKind::uint64},  {"f2", ScalarKind::float16}, {"f4", ScalarKind::float32}};
  if (descr.size() >= 2) {
    for (const auto& [name, kind] : known) {
      if (descr.substr(1) == name) return kind;
    }
    if (descr.substr(1) == "f8") {
      fail(file, "64-bit floats do not exist in Metal; save it with array.astype('float32')");
    }
  }
  fail(file, fmt::format("element type '{}' is not supported (supported: {})", descr, kind_names()));
}

std::vector<std::size_t> parse_shape(const std::filesystem::path& file, std::string_view text) {
  auto close = text.find(')');
  if (text.empty() || text[0] != '(' || close == std::string_view::npos) fail(file, "header has no valid 'shape'");
  std::vector<std::size_t> shape;
  std::size_t total = 1;
  std::optional<std::size_t> number;
  auto finish = [&] {
    if (!number) return;
    if (*number != 0 && total > (std::size_t{1} << 40) / *number) fail(file, "shape is implausibly large");
    total *= *number;
    shape.push_back(*number);
    number.reset();
  };
  for (char c : text.substr(1, close - 1)) {
    if (c >= '0' && c <= '9') {
      number = number.value_or(0) * 10 + static_cast<std::size_t>(c - '0');
      if (*number > (std::size_t{1} << 40)) fail(file, "shape is implausibly large");
    } else if (c == ',') {
      finish();
    } else if (c != ' ' && c != 'L') {
      fail(file, "header has no valid 'shape'");
    }
  }
  finish();
  return shape;
}

std::string_view descr_of(ScalarKind kind) {
  switch (kind) {
    case ScalarKind::boolean: return "|b1";
    case ScalarKind::int8: return "|i1";
    case ScalarKind::uint8: return "|u1";
    case ScalarKind::int16: return "<i2";
    case ScalarKind::uint16:
    case ScalarKind::bfloat16: return "<u2";
    case ScalarKind::int32: return "<i4";
    case ScalarKind::uint32: return "<u4";
    case ScalarKind::int64: return "<i8";
    case ScalarKind::uint64: return "<u8";
    case ScalarKind::float16: return "<f2";
    default: return "<f4";
  }
}

}  // namespace

Array read_npy(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) fail(file, fmt::format("cannot be read ({})", std::strerror(errno)));
  char start[8];
  if (!stream.read(start, sizeof start) || std::string_view(start, magic.size()) != magic) {
    fail(file, "is not a .npy file (it does not begin with \\x93NUMPY)");
  }
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3) fail(file, fmt::format(".npy format version {} is not supported", version));
  unsigned char length_bytes[4] = {};
  const int length_size = version == 1 ? 2 : 4;
  if (!stream.read(reinterpret_cast<char*>(length_bytes), length_size)) fail(file, "is cut off in its header");
  const std::size_t length =
      length_bytes[0] | length_bytes[1] << 8 | length_bytes[2] << 16 | static_cast<std::size_t>(length_bytes[3]) << 24;
  if (length > (1 << 20)) fail(file, "header is implausibly long");
  std::string header(length, '\0');
  if (!stream.read(header.data(), static_cast<std::streamsize>(length))) fail(file, "is cut off in its header");

  auto descr = value_of(header, "descr");
  if (!descr) fail(file, "header has no 'descr'");
  Array array;
  bool is_raw = descr->front() == '[';  // a structured type
  bool is_complex = false;
  if (!is_raw) {
    if (descr->front() != '\'' && descr->front() != '"') fail(file, "header has no valid 'descr'");
    const auto end = descr->find(descr->front(), 1);
    if (end == std::string_view::npos) fail(file, "header has no valid 'descr'");
    const std::string_view type = descr->substr(1, end - 1);
    is_raw = type.starts_with("|V");
    is_complex = type == "<c8";
    if (!is_raw) array.kind = is_complex ? ScalarKind::float32 : parse_descr(file, type);
  }
  auto fortran = value_of(header, "fortran_order");
  if (!fortran) fail(file, "header has no 'fortran_order'");
  auto shape = value_of(header, "shape");
  if (!shape) fail(file, "header has no 'shape'");
  array.shape = parse_shape(file, *shape);
  if (fortran->starts_with("True") && array.shape.size() > 1) {
    fail(file, "Fortran order is not supported; save it with numpy.ascontiguousarray(array)");
  }
  if (is_complex) array.shape.push_back(2);
  const auto data_start = stream.tellg();
  stream.seekg(0, std::ios::end);
  const auto available = static_cast<std::size_t>(stream.tellg() - data_start);
  if (is_raw) {  // the size of an element follows from that of the file
    const std::size_t count = std::max<std::size_t>(array.element_count(), 1);
    if (available % count != 0) fail(file, fmt::format("is cut off: {} bytes for {} elements", available, count));
    array.kind = ScalarKind::uint8;
    array.shape.push_back(array.element_count() == 0 ? 1 : available / count);
  }
  const std::size_t size = array.element_count() * size_of(array.kind);
  if (available < size) fail(file, fmt::format("is cut off: {} bytes of data, its shape needs {}", available, size));
  stream.seekg(data_start);
  array.bytes.resize(size);
  stream.read(reinterpret_cast<char*>(array.bytes.data()), static_cast<std::streamsize>(size));
  if (!stream) fail(file, "cannot be read");
  return array;
}

void write_npy(const std::filesystem::path& file, const Array& array) {
  std::string shape;
  for (std::size_t extent : array.shape) shape += fmt::format("{},{}", extent, array.shape.size() > 1 ? " " : "");
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr_of(array.kind), shape);
  const std::size_t prefix = magic.size() + 4;
  header.append((64 - (prefix + header.size() + 1) % 64) % 64, ' ');
  header += '\n';
  std::ofstream stream(file, std::ios::binary);
  if (!stream) fail(file, fmt::format("cannot be written ({})", std::strerror(errno)));
  stream << magic << '\x01' << '\0' << static_cast<char>(header.size() & 0xff) << static_cast<char>(header.size() >> 8)
         << header;
  stream.write(reinterpret_cast<const char*>(array.bytes.data()), static_cast<std::streamsize>(array.bytes.size()));
  stream.close();
  if (!stream) fail(file, "cannot be written");
}

}  // namespace metalloid::tool
