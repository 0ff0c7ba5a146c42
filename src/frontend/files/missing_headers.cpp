// Which header declares a name that Clang does not know. PyTorch's kernel files take their macros from here and there.
#include "frontend/files/missing_headers.h"

#include <map>

namespace metalloid::frontend {

std::string header_that_declares(std::string_view message, std::string_view source) {
  static const std::map<std::string_view, std::string_view> headers = {
      {"REGISTER_FLOAT_BINARY_OP", "metalloid/registration.h"},
      {"REGISTER_INTEGER_BINARY_OP", "metalloid/registration.h"},
      {"REGISTER_INT2FLOAT_BINARY_OP", "metalloid/registration.h"},
      {"REGISTER_OPMATH_FLOAT_BINARY_OP", "metalloid/registration.h"},
      {"REGISTER_FLOAT_UNARY_OP", "metalloid/registration.h"},
      {"REGISTER_INTEGER_UNARY_OP", "metalloid/registration.h"},
      {"REGISTER_INT2FLOAT_UNARY_OP", "metalloid/registration.h"},
      {"REGISTER_UNARY_OP", "c10/metal/indexing.h"},
      {"REGISTER_UNARY_ALPHA_OP", "c10/metal/indexing.h"},
      {"REGISTER_BINARY_OP", "c10/metal/indexing.h"},
      {"REGISTER_BINARY_ALPHA_OP", "c10/metal/indexing.h"},
      {"REGISTER_OPMATH_BINARY_OP", "c10/metal/indexing.h"},
      {"REGISTER_TERNARY_OP", "c10/metal/indexing.h"},
      {"TORCH_REPORT_ERROR", "c10/metal/error.h"},
  };
  std::string_view name;
  for (const std::string_view words : {"unknown type name '", "use of undeclared identifier '"}) {
    if (message.starts_with(words)) name = message.substr(words.size());
  }
  // What follows from a macro with several arguments: the type of a function is missing.
  if (message.starts_with("a type specifier is required")) name = source.substr(0, 64);
  const auto found = headers.find(name.substr(0, name.find_first_of("'( ")));
  if (found != headers.end()) return std::string(found->second);
  return {};
}

}  // namespace metalloid::frontend
