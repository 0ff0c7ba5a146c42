// Types as the compiler writes them for the runtime: "v24@0:8Q16", "{?=QQQ}".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace metalloid::objective_c {

// A number or an address, in its place within a type.
struct Scalar {
  char kind;
  std::size_t offset, size;
};

struct Type {
  std::string encoding;  // without qualifiers and names of variables
  std::size_t size = 0, alignment = 1;
  std::vector<Scalar> scalars;  // of structures and arrays all
  std::string unknown;          // what of it is not known, if anything
};

// Takes the type at the front off, with its qualifiers.
Type take_type(std::string_view& encoding);

// A method's: its result, then its arguments, of which the first are the receiver and the selector.
std::vector<Type> types_of_method(std::string_view encoding);

}  // namespace metalloid::objective_c
