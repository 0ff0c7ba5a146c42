// The argument SPECs of `metalloid run`: what to bind, and to which argument.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "array.h"

namespace metalloid::tool {

// A SPEC or another option that cannot be understood: a mistake in the command line, exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct ArgumentSpec {
  enum class Source { file, values, arange, uniform, normal, undefined, of_argument, alias };

  std::string text;    // as given, for messages
  std::string target;  // name or index in "TARGET=SPEC"; empty: the next buffer in order
  Source source = Source::values;
  std::string file;                      // Source::file
  ElementType kind = ElementType::none;  // of the elements; for a file: none, or bfloat16 from "bf16:FILE.npy"
  bool is_scalar = false;                // "u32:1024" in contrast to an array of one element
  std::string value;                     // Source::of_argument: a value whose type is the argument's (value.h)
  std::vector<std::size_t> shape;
  std::vector<std::string> values;  // one for all elements, or one per element
  // Source::alias: the memory of another argument, by its name or index, from a byte of it on.
  std::string alias;
  std::size_t alias_offset = 0;
};

// SPEC := FILE.npy | KIND:FILE.npy | KIND:VALUE | KIND[N,N,...]=FILL | @TARGET | @TARGET+BYTES | a value of value.h,
// each also as TARGET=SPEC.
// FILL := zeros | ones | arange | uniform | normal | undefined | VALUE | VALUE,VALUE,...
// Throws UsageError that shows the forms.
ArgumentSpec parse_argument(std::string_view text);

// Sets an element. Throws UsageError, which shows `whole`, for text that the array's kind cannot hold.
void set_from_text(Array& array, std::size_t index, const std::string& value, std::string_view whole);

// What is in arrays with undefined contents: not-a-number in every floating-point format.
inline constexpr std::uint32_t undefined_pattern = 0x7fff7fff;

// The array that a SPEC with a kind describes. Random fills depend on the seed alone. Throws UsageError for a value
// that the kind cannot hold, Error(input_output) for files.
Array materialise(const ArgumentSpec& spec, std::uint64_t seed);

// Parses "X", "X,Y" or "X,Y,Z", also with 'x' in place of ','; missing extents are 1. Throws UsageError that names
// `option`.
std::vector<std::uint64_t> parse_extents(std::string_view text, std::string_view option);

}  // namespace metalloid::tool
