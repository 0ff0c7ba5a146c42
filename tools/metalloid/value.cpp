#include "value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <vector>

#include "argument.h"
#include "output.h"

namespace metalloid::tool {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::string example(const TypeInfo& type) {
  std::string text;
  for (const StructMember& member : type.members) text += fmt::format("{}{}=...", text.empty() ? "" : ",", member.name);
  return "{" + text + "}";
}

class Parser {
 public:
  explicit Parser(std::string_view whole) : whole_(whole) {}

  void parse(std::string_view text, const TypeInfo& type, std::size_t offset, std::vector<std::byte>& bytes) const {
    text = trimmed(text);
    if (type.array_length > 0) return parse_array(text, type, offset, bytes);
    if (!type.members.empty()) return parse_struct(text, type, offset, bytes);
    if (type.scalar == ElementType::none) fail(fmt::format("{} has no values; give an array", type.name));
    if (type.columns > 1) {
      TypeInfo column = type;
      column.columns = 1;
      column.size = type.size / type.columns;
      column.name = fmt::format("a column of {}", type.name);
      return parse_equal(text, type, column, type.columns, offset, bytes);
    }
    if (type.rows > 1) {
      TypeInfo element = type;
      element.rows = 1;
      element.size = size_of(type.scalar);
      return parse_equal(text, type, element, type.rows, offset, bytes);
    }
    if (text.starts_with('{')) fail(fmt::format("{} is one value; no braces", type.name));
    Array element = make_array(type.scalar, {});
    set_from_text(element, 0, std::string(text), whole_);
    std::ranges::copy(element.bytes, bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw UsageError(fmt::format("argument '{}': {}", shortened(whole_), reason));
  }

  // What stands between the braces, cut at the commas that are not inside others.
  std::vector<std::string_view> items(std::string_view text, const TypeInfo& type, const std::string& example) const {
    if (!text.starts_with('{')) fail(fmt::format("{} is written in braces: {}", type.name, example));
    std::vector<std::string_view> result;
    int depth = 0;
    std::size_t start = 1;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '{') ++depth;
      if (text[i] == '}') --depth;
      const bool ends = depth == 0;
      if ((text[i] == ',' && depth == 1) || ends) {
        result.push_back(trimmed(text.substr(start, i - start)));
        start = i + 1;
      }
      if (!ends) continue;
      if (i + 1 != text.size()) fail(fmt::format("'{}' stands behind the last brace", shortened(text.substr(i + 1))));
      if (result.size() == 1 && result[0].empty()) result.clear();
      return result;
    }
    fail("a brace is not closed");
  }

  void parse_equal(std::string_view text, const TypeInfo& type, const TypeInfo& element, std::size_t count,
                   std::size_t offset, std::vector<std::byte>& bytes) const {
    const std::vector<std::string_view> values = items(text, type, count == 2 ? "{1, 2}" : "{1, 2, ...}");
    if (values.size() > count) fail(fmt::format("{} values for {}", values.size(), type.name));
    for (std::size_t i = 0; i < values.size(); ++i) parse(values[i], element, offset + i * element.size, bytes);
  }

  void parse_array(std::string_view text, const TypeInfo& type, std::size_t offset,
                   std::vector<std::byte>& bytes) const {
    TypeInfo element = type;
    element.array_length = 0;
    element.size = type.size / type.array_length;
    element.name = type.name.substr(0, type.name.find('['));
    parse_equal(text, type, element, type.array_length, offset, bytes);
  }

  void parse_struct(std::string_view text, const TypeInfo& type, std::size_t offset,
                    std::vector<std::byte>& bytes) const {
    std::size_t next = 0;
    for (std::string_view item : items(text, type, example(type))) {
      // A name before the first brace; values of members may have names of their own.
      const auto equals = item.substr(0, item.find('{')).find('=');
      if (equals != std::string_view::npos) {
        const std::string_view name = trimmed(item.substr(0, equals));
        const auto found = std::ranges::find(type.members, name, &StructMember::name);
        if (found == type.members.end())
          fail(fmt::format("{} has no member '{}': {}", type.name, shortened(name), example(type)));
        next = static_cast<std::size_t>(found - type.members.begin());
        item.remove_prefix(equals + 1);
      }
      if (next >= type.members.size()) fail(fmt::format("too many values for {}: {}", type.name, example(type)));
      const StructMember& member = type.members[next++];
      parse(item, member.type.front(), offset + member.offset, bytes);
    }
  }

  std::string_view whole_;
};

}  // namespace

bool is_value(std::string_view text) {
  if (text.starts_with('{')) return true;
  if (text.empty() || text.find('=') != std::string_view::npos) return false;
  for (std::string_view word : {"true", "false", "nan", "inf"}) {
    if (text == word) return true;
  }
  const auto first = text.find_first_not_of("+-.");
  return first != std::string_view::npos &&
         (std::isdigit(static_cast<unsigned char>(text[first])) != 0 || text.substr(first) == "inf");
}

std::string example_value(const TypeInfo& type) {
  if (type.array_length == 0 && !type.members.empty()) return "'" + example(type) + "'";
  return type.array_length > 0 || type.rows > 1 || type.columns > 1 ? "'{VALUE,...}'" : "VALUE";
}

Array parse_value(std::string_view text, const TypeInfo& type, std::string_view whole) {
  std::vector<std::byte> bytes(type.size);
  Parser(whole).parse(text, type, 0, bytes);
  // Elements of one kind without gaps stay what they are; all else is bytes.
  const std::size_t element = size_of(type.scalar);
  if (type.members.empty() && element > 0) {
    Array array{type.scalar, {}, std::move(bytes)};
    if (type.size != element) array.shape = {type.size / element};
    return array;
  }
  return {ElementType::uint8, {bytes.size()}, std::move(bytes)};
}

}  // namespace metalloid::tool
