// A parser of the literals that occur in headers: strings, whole numbers, True, False, tuples, lists, dictionaries.
#include "npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace metalloid::tool {
namespace {

constexpr std::uint64_t largest_element = std::uint64_t{1} << 40;  // bytes; also bounds what is multiplied below

struct Literal {
  enum class Kind { string, number, boolean, sequence, dictionary };
  Kind kind = Kind::number;
  std::string text;            // string
  std::uint64_t number = 0;    // number, boolean
  std::vector<Literal> items;  // sequence; of a dictionary keys and values in turn
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Literal parse_all() {
    Literal literal = parse(0);
    skip_space();
    if (!text_.empty()) throw HeaderError("its header goes on behind its dictionary");
    return literal;
  }

 private:
  void skip_space() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n"), text_.size())); }

  bool take(std::string_view wanted) {
    skip_space();
    if (!text_.starts_with(wanted)) return false;
    text_.remove_prefix(wanted.size());
    return true;
  }

  Literal parse(int depth) {
    constexpr int deepest = 32;
    if (depth > deepest) throw HeaderError("its header is nested too deeply");
    skip_space();
    if (take("(")) return parse_items(")", depth, false);
    if (take("[")) return parse_items("]", depth, false);
    if (take("{")) return parse_items("}", depth, true);
    if (take("True")) return {.kind = Literal::Kind::boolean, .text = {}, .number = 1, .items = {}};
    if (take("False")) return {.kind = Literal::Kind::boolean, .text = {}, .number = 0, .items = {}};
    if (text_.starts_with('\'') || text_.starts_with('"')) return parse_string();
    return parse_number();
  }

  Literal parse_items(std::string_view end, int depth, bool has_keys) {
    Literal literal{
        .kind = has_keys ? Literal::Kind::dictionary : Literal::Kind::sequence, .text = {}, .number = 0, .items = {}};
    bool separated = true;
    while (!take(end)) {
      if (!separated) throw HeaderError("its header is no Python literal: a comma is missing");
      literal.items.push_back(parse(depth + 1));
      if (has_keys) {
        if (!take(":")) throw HeaderError("its header is no Python literal: a colon is missing");
        literal.items.push_back(parse(depth + 1));
      }
      separated = take(",");
    }
    return literal;
  }

  Literal parse_string() {
    const char quote = text_.front();
    text_.remove_prefix(1);
    Literal literal{.kind = Literal::Kind::string, .text = {}, .number = 0, .items = {}};
    while (!text_.empty() && text_.front() != quote) {
      if (text_.front() == '\\' && text_.size() > 1) text_.remove_prefix(1);  // only quotes and names need them
      literal.text += text_.front();
      text_.remove_prefix(1);
    }
    if (text_.empty()) throw HeaderError("its header is no Python literal: a quote is missing");
    text_.remove_prefix(1);
    return literal;
  }

  Literal parse_number() {
    Literal literal;
    if (text_.starts_with('-')) throw HeaderError("its header has a negative number");
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), literal.number);
    if (error == std::errc::result_out_of_range) throw HeaderError("its shape is implausibly large");
    if (error != std::errc()) throw HeaderError("its header is no Python literal");
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    if (text_.starts_with('L')) text_.remove_prefix(1);  // as Python 2 wrote it
    return literal;
  }

  std::string_view text_;
};

std::vector<std::uint64_t> shape_of(const Literal& literal) {
  std::vector<std::uint64_t> shape;
  for (const Literal& item : literal.items) {
    if (item.kind != Literal::Kind::number) throw HeaderError("its header has no valid 'shape'");
    shape.push_back(item.number);
  }
  return shape;
}

NpyType type_of(const Literal& literal) {
  if (literal.kind == Literal::Kind::string) return {literal.text, {}};
  if (literal.kind != Literal::Kind::sequence) throw HeaderError("its header has no valid 'descr'");
  NpyType type;
  for (const Literal& field : literal.items) {
    if (field.kind != Literal::Kind::sequence || field.items.size() < 2 || field.items.size() > 3) {
      throw HeaderError("its header has no valid 'descr'");
    }
    // A name is a string, or a pair of a title and a name.
    NpyField parsed{field.items[0].text, {type_of(field.items[1])}, {}};
    if (field.items.size() == 3) {
      if (field.items[2].kind == Literal::Kind::number) {
        parsed.shape = {field.items[2].number};
      } else {
        parsed.shape = shape_of(field.items[2]);
      }
    }
    type.fields.push_back(std::move(parsed));
  }
  return type;
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  if (b != 0 && a > largest_element / b) throw HeaderError("its elements are implausibly large");
  return a * b;
}

}  // namespace

NpyHeader parse_npy_header(std::string_view text) {
  const Literal dictionary = Parser(text).parse_all();
  if (dictionary.kind != Literal::Kind::dictionary) throw HeaderError("its header is no dictionary");
  const auto find = [&](std::string_view key) -> const Literal& {
    const Literal* found = nullptr;
    for (std::size_t i = 0; i < dictionary.items.size(); i += 2) {
      if (dictionary.items[i].kind == Literal::Kind::string && dictionary.items[i].text == key) {
        found = &dictionary.items[i + 1];
      }
    }
    if (found == nullptr) throw HeaderError(fmt::format("its header has no '{}'", key));
    return *found;
  };
  NpyHeader header;
  header.type = type_of(find("descr"));
  const Literal& order = find("fortran_order");
  if (order.kind != Literal::Kind::boolean) throw HeaderError("its header has no valid 'fortran_order'");
  header.fortran_order = order.number != 0;
  const Literal& shape = find("shape");
  if (shape.kind != Literal::Kind::sequence) throw HeaderError("its header has no valid 'shape'");
  header.shape = shape_of(shape);
  return header;
}

std::uint64_t element_size(const NpyType& type) {
  if (!type.fields.empty() || type.name.empty()) {
    std::uint64_t size = 0;
    for (const NpyField& field : type.fields) {
      std::uint64_t bytes = element_size(field.type.front());
      for (std::uint64_t extent : field.shape) bytes = product(bytes, extent);
      size += bytes;
      if (size > largest_element) throw HeaderError("its elements are implausibly large");
    }
    return size;
  }
  const std::string_view name = type.name;
  if (name.size() >= 2 && name[1] == 'O') throw HeaderError("Python objects have no memory that a kernel could read");
  if (name.size() >= 3 && name[0] == '>' && name.substr(2) != "1") {
    throw HeaderError(
        fmt::format("big-endian data ('{}') is not supported; save it with array.astype('<{}')", name, name.substr(1)));
  }
  std::uint64_t size = 0;
  const auto digits = name.size() >= 3 ? name.substr(2) : std::string_view{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  const bool known = name.size() >= 3 && std::string_view("<|=>").find(name[0]) != std::string_view::npos &&
                     std::string_view("biufcVSUmM").find(name[1]) != std::string_view::npos;
  // Dates say their unit behind the size: "<M8[ns]".
  const bool ends = end == digits.data() + digits.size() || (*end == '[' && (name[1] == 'm' || name[1] == 'M'));
  if (!known || error != std::errc() || !ends) throw HeaderError(fmt::format("element type '{}' is not known", name));
  return product(size, name[1] == 'U' ? 4 : 1);
}

}  // namespace metalloid::tool
