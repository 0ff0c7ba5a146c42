// Parsing argument SPECs and turning them into arrays.
#include "argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numbers>
#include <optional>
#include <random>

#include "npy.h"
#include "numbers.h"
#include "output.h"
#include "support/fill.h"
#include "value.h"

namespace metalloid::tool {
namespace {

[[noreturn]] void fail(std::string_view text, const std::string& reason) {
  throw UsageError(fmt::format("argument '{}': {}", shortened(text), reason));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    auto at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// Smallest and largest integer of a kind, as wide as parsing needs.
bool integer_fits(ElementType kind, std::int64_t value) {
  const std::uint32_t bits = size_of(kind) * 8;
  if (kind == ElementType::boolean) return value == 0 || value == 1;
  if (is_signed_integer(kind)) {
    return bits == 64 || (value >= -(std::int64_t{1} << (bits - 1)) && value < (std::int64_t{1} << (bits - 1)));
  }
  return value >= 0 && (bits == 64 || value < (std::int64_t{1} << bits));
}

bool names_npy_file(std::string_view text) { return text.ends_with(".npy"); }

std::vector<std::size_t> parse_shape(std::string_view text, std::string_view whole, ElementType kind) {
  std::vector<std::size_t> shape;
  std::size_t total = size_of(kind);
  for (const std::string& part : split(text, text.find('x') == std::string_view::npos ? ',' : 'x')) {
    auto extent = parse_number<std::size_t>(part);
    if (!extent) fail(whole, fmt::format("'{}' is not an extent", shortened(part)));
    if (shape.size() == largest_rank) fail(whole, fmt::format("an array has at most {} dimensions", largest_rank));
    if (*extent != 0 && total > largest_array() / *extent) {
      fail(whole, fmt::format("the array is larger than half of this machine's memory, {} MiB", largest_array() >> 20));
    }
    total *= *extent;
    shape.push_back(*extent);
  }
  return shape;
}

void parse_fill(ArgumentSpec& spec, std::string_view fill) {
  if (fill.empty()) fail(spec.text, "nothing after '='");
  if (fill == "zeros") {
    spec.values = {"0"};
  } else if (fill == "ones") {
    spec.values = {"1"};
  } else if (fill == "arange") {
    spec.source = ArgumentSpec::Source::arange;
  } else if (fill == "uniform") {
    spec.source = ArgumentSpec::Source::uniform;
  } else if (fill == "normal") {
    spec.source = ArgumentSpec::Source::normal;
  } else if (fill == "undefined") {
    spec.source = ArgumentSpec::Source::undefined;
  } else {
    const bool is_word = fill.size() > 3 && std::isalpha(static_cast<unsigned char>(fill[0])) != 0 &&
                         fill.find(',') == std::string_view::npos;
    if (is_word && fill != "true" && fill != "false") {
      fail(spec.text, fmt::format("'{}' is neither a value nor zeros, ones, arange, uniform, normal or undefined",
                                  shortened(fill)));
    }
    spec.values = split(fill, ',');
  }
}

// What people write for a kind that has another name here.
void suggest_kind(std::string_view text, std::string_view name) {
  const ElementType meant = find_element_type([&](const ElementTypeInfo& info) {
    return name == info.name || name == info.metal_name || name == info.library_name || name == info.sized_name;
  });
  if (meant == ElementType::float64) fail(text, "Metal has no 64-bit floats; give f32");
  if (parse_kind(name_of(meant))) {
    fail(text, fmt::format("element type '{}' is written {} here", name, name_of(meant)));
  }
}

// "a" or "a+16". A name has no '+'.
void parse_alias(ArgumentSpec& spec, std::string_view text) {
  const auto plus = text.find('+');
  spec.source = ArgumentSpec::Source::alias;
  spec.alias = text.substr(0, plus);
  if (plus != std::string_view::npos) {
    const auto offset = parse_number<std::size_t>(text.substr(plus + 1));
    if (!offset) fail(spec.text, fmt::format("'{}' is no number of bytes", shortened(text.substr(plus + 1))));
    spec.alias_offset = *offset;
  }
  if (spec.alias.empty()) fail(spec.text, "an argument's name or index stands behind '@'");
}

// True if the text was a SPEC without a target.
bool parse_plain(ArgumentSpec& spec, std::string_view text) {
  if (text.starts_with('@') && !names_npy_file(text)) {
    parse_alias(spec, text.substr(1));
    return true;
  }
  const auto kind_end = text.find_first_of(":[");
  const auto kind = kind_end == std::string_view::npos ? std::nullopt : parse_kind(text.substr(0, kind_end));
  if (!kind) {
    if (kind_end != std::string_view::npos) suggest_kind(spec.text, text.substr(0, kind_end));
    if (is_value(text) && !names_npy_file(text)) {
      spec.source = ArgumentSpec::Source::of_argument;
      spec.value = text;
      return true;
    }
    // "x=FILE.npy" has a target; a file may have '=' in its name only behind a '/'.
    if (!names_npy_file(text) || text.substr(0, text.find('/')).find('=') != std::string_view::npos) return false;
    spec.source = ArgumentSpec::Source::file;
    spec.file = text;
    return true;
  }
  spec.kind = *kind;
  if (text[kind_end] == ':') {
    std::string_view value = text.substr(kind_end + 1);
    if (names_npy_file(value)) {
      spec.source = ArgumentSpec::Source::file;
      spec.file = value;
    } else {
      spec.is_scalar = true;
      spec.values = {std::string(value)};
    }
    return true;
  }
  const auto close = text.find(']');
  if (close == std::string_view::npos || close + 1 >= text.size() || text[close + 1] != '=') {
    fail(spec.text, "an array is written KIND[N,...]=FILL, for example f32[8,1024]=uniform");
  }
  spec.shape = parse_shape(text.substr(kind_end + 1, close - kind_end - 1), spec.text, *kind);
  parse_fill(spec, text.substr(close + 2));
  return true;
}

// A number too small for a double is 0, one too large is infinite.
std::optional<double> parse_real(std::string_view text) {
  if (auto number = parse_number<double>(text)) return number;
  double ignored;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ignored);
  if (error != std::errc::result_out_of_range || end != text.data() + text.size()) return std::nullopt;
  return std::strtod(std::string(text).c_str(), nullptr);
}

}  // namespace

void set_from_text(Array& array, std::size_t index, const std::string& value, std::string_view whole) {
  if (is_floating(array.kind)) {
    std::string_view digits = value;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    if (digits.starts_with('-') && value.starts_with('+')) digits = {};
    const auto number = parse_real(digits);
    if (!number) fail(whole, fmt::format("'{}' is not a number", shortened(value)));
    set_element(array, index, *number);
    const bool is_infinity = value.find_first_of("iI") != std::string::npos;
    if (!is_infinity && std::isinf(element_as_double(array, index))) {
      fail(whole, fmt::format("{} does not fit {}", shortened(value), name_of(array.kind)));
    }
    return;
  }
  if (array.kind == ElementType::boolean && (value == "true" || value == "false")) {
    return set_element(array, index, std::int64_t{value == "true"});
  }
  const bool negative = value.starts_with('-');
  std::string_view digits = std::string_view(value).substr(negative || value.starts_with('+') ? 1 : 0);
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  auto magnitude = parse_number<std::uint64_t>(hexadecimal ? digits.substr(2) : digits, hexadecimal ? 16 : 10);
  if (!magnitude) fail(whole, fmt::format("'{}' is not an integer", shortened(value)));
  const std::uint64_t largest =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) + (negative ? 1 : 0);
  const bool huge = *magnitude > largest;
  const auto integer = static_cast<std::int64_t>(negative ? -*magnitude : *magnitude);
  const bool fits = huge ? (array.kind == ElementType::uint64 && !negative) : integer_fits(array.kind, integer);
  if (!fits) fail(whole, fmt::format("{} does not fit {}", shortened(value), name_of(array.kind)));
  set_element(array, index, integer);
}

ArgumentSpec parse_argument(std::string_view text) {
  ArgumentSpec spec;
  spec.text = text;
  if (parse_plain(spec, text)) return spec;
  const auto equals = text.find('=');
  if (equals != std::string_view::npos && equals > 0) {
    spec.target = text.substr(0, equals);
    if (parse_plain(spec, text.substr(equals + 1))) return spec;
  }
  fail(text,
       fmt::format("not understood; give FILE.npy, a value such as 1024 or 1e-5 or {{8,0.5}}, or an array such as "
                   "f32[8,1024]=zeros|ones|arange|uniform|normal|undefined|VALUE, or @ARGUMENT, each also as NAME=... "
                   "or INDEX=... "
                   "(kinds: {})",
                   kind_names()));
}

Array materialise(const ArgumentSpec& spec, std::uint64_t seed) {
  if (spec.source == ArgumentSpec::Source::file) {
    Array array = read_npy(spec.file);
    if (spec.kind == ElementType::none || spec.kind == array.kind) return array;
    if (spec.kind == ElementType::bfloat16 && array.kind == ElementType::uint16) {
      array.kind = ElementType::bfloat16;
      return array;
    }
    fail(spec.text, fmt::format("{} holds {}, not {}", shortened(spec.file), name_of(array.kind), name_of(spec.kind)));
  }
  Array array = make_array(spec.kind, spec.shape);
  const std::size_t count = array.element_count();
  if (spec.source == ArgumentSpec::Source::undefined) {
    support::fill_with(array.bytes, undefined_pattern);
    return array;
  }
  if (spec.source == ArgumentSpec::Source::values) {
    if (spec.values.size() != 1 && spec.values.size() != count) {
      fail(spec.text, fmt::format("{} values for {} elements", spec.values.size(), count));
    }
    const bool are_all_alike = spec.values.size() == 1;
    for (std::size_t i = 0; i < (are_all_alike ? std::min<std::size_t>(count, 1) : count); ++i) {
      set_from_text(array, i, spec.values[i], spec.text);
    }
    if (are_all_alike) {
      const std::size_t size = count == 0 ? 0 : array.bytes.size() / count;
      for (std::size_t i = 1; i < count; ++i) std::memcpy(&array.bytes[i * size], array.bytes.data(), size);
    }
    return array;
  }
  // Own transformations of the generator's bits: the standard distributions differ between libraries.
  std::mt19937_64 generator(seed);
  auto unit = [&] { return static_cast<double>(generator() >> 11) * 0x1p-53; };
  for (std::size_t i = 0; i < count; ++i) {
    if (spec.source == ArgumentSpec::Source::arange) {
      set_element(array, i, static_cast<std::int64_t>(i));
    } else if (spec.source == ArgumentSpec::Source::uniform) {
      const bool boolean = array.kind == ElementType::boolean;
      set_element(array, i, is_floating(array.kind) ? unit() : std::floor(unit() * (boolean ? 2 : 100)));
    } else {
      const double radius = std::sqrt(-2 * std::log(1 - unit()));
      set_element(array, i, radius * std::cos(2 * std::numbers::pi * unit()));
    }
  }
  return array;
}

std::vector<std::uint64_t> parse_extents(std::string_view text, std::string_view option) {
  std::vector<std::uint64_t> extents;
  for (const std::string& part : split(text, text.find('x') == std::string_view::npos ? ',' : 'x')) {
    auto extent = parse_number<std::uint32_t>(part);
    if (!extent || extents.size() == 3) {
      throw UsageError(
          fmt::format("{} {}: give X or X,Y or X,Y,Z with whole numbers below 2^32", option, shortened(text)));
    }
    extents.push_back(*extent);
  }
  extents.resize(3, 1);
  return extents;
}

}  // namespace metalloid::tool
