// The header of a .npy file: a Python dictionary literal, {'descr': '<f4', 'fortran_order': False, 'shape': (8, 4), }.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace metalloid::tool {

// Why a header is none, without the file's name.
class HeaderError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The element type: a type string, or the fields of a structured one (numpy.lib.format).
struct NpyType;
struct NpyField {
  std::string name;
  std::vector<NpyType> type;  // exactly one (NpyType is incomplete here)
  std::vector<std::uint64_t> shape;
};
struct NpyType {
  std::string name;              // "<f4"; empty for a structured type
  std::vector<NpyField> fields;  // of a structured type
};

struct NpyHeader {
  NpyType type;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

// Throws HeaderError.
NpyHeader parse_npy_header(std::string_view text);

// Bytes of an element. Throws HeaderError for types that have no fixed size in a file (Python objects).
std::uint64_t element_size(const NpyType& type);

}  // namespace metalloid::tool
