#include "constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string_view>

#include "argument.h"
#include "metalloid/library_outline.h"
#include "numbers.h"
#include "output.h"
#include "value.h"

namespace metalloid::tool {
namespace {

// A whole number that is written as a real one, "1e3" or "2.0", as the whole number.
std::string as_whole(std::string_view text) {
  const auto number = parse_number<double>(text);
  if (!number || text.find_first_of(".eE") == std::string_view::npos) return std::string(text);
  // Above, a double does not say which number was meant.
  constexpr double largest_exact = 0x1p53;
  if (std::abs(*number) > largest_exact || *number != std::trunc(*number)) return std::string(text);
  return std::to_string(static_cast<std::int64_t>(*number));
}

FunctionConstants::Value parse_constant(std::string_view text, const TypeInfo& type, std::string_view whole) {
  std::string value(text);
  if (!text.starts_with('{')) {
    if (type.rows > 1) {
      value = fmt::format("{{{}}}", text);
    } else if (!is_floating(type.scalar)) {
      value = as_whole(text);
    }
  }
  const auto given = static_cast<std::size_t>(std::ranges::count(value, ',')) + 1;
  if (type.rows > 1 && given != type.rows) {
    throw UsageError(fmt::format("--constant {}: {} needs {} values", shortened(whole), type.name, type.rows));
  }
  const Array array = parse_value(value, type, whole);
  std::vector<std::int64_t> integers;
  std::vector<double> floats;
  for (std::size_t i = 0; i < type.rows; ++i) {
    // A ulong beyond what a long holds is passed by its bits.
    if (is_floating(type.scalar)) {
      floats.push_back(element_as_double(array, i));
    } else {
      integers.push_back(element_as_integer(array, i));
    }
  }
  if (is_floating(type.scalar)) return type.rows == 1 ? FunctionConstants::Value(floats[0]) : floats;
  return type.rows == 1 ? FunctionConstants::Value(integers[0]) : integers;
}

}  // namespace

FunctionConstants parse_constants(const Library& library, const std::vector<std::string>& assignments) {
  FunctionConstants constants;
  std::set<std::uint32_t> given;
  for (const std::string& assignment : assignments) {
    const auto equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UsageError(fmt::format("--constant {}: give NAME=VALUE or INDEX=VALUE", shortened(assignment)));
    }
    const std::string target = assignment.substr(0, equals);
    const auto index = parse_number<std::uint32_t>(target);
    const auto& known = function_constants_of(library);
    const auto found = std::ranges::find_if(known, [&](const FunctionConstantInfo& constant) {
      return index ? constant.index == *index : constant.name == target;
    });
    if (found == known.end()) {  // the library says which there are
      index ? constants.set(*index, std::int64_t{0}) : constants.set(target, std::int64_t{0});
      continue;
    }
    if (!given.insert(found->index).second) {
      throw UsageError(fmt::format("--constant {}: '{}' has a value already", shortened(assignment), found->name));
    }
    constants.set(found->index, parse_constant(assignment.substr(equals + 1), found->type, assignment));
  }
  return constants;
}

}  // namespace metalloid::tool
