// Reading types.
#include "metal/objc/type_encoding.h"

#include <algorithm>
#include <charconv>

namespace metalloid::objective_c {
namespace {

std::size_t size_of(char kind) {
  switch (kind) {
    case 'c':
    case 'C':
    case 'B': return 1;
    case 's':
    case 'S': return 2;
    case 'i':
    case 'I':
    case 'f': return 4;
    case 'l':
    case 'L':
    case 'q':
    case 'Q':
    case 'd':
    case '@':
    case '#':
    case ':':
    case '*':
    case '^':
    case '?': return 8;
    case 't':
    case 'T':
    case 'D': return 16;
    default: return 0;
  }
}

void skip_qualifiers(std::string_view& at) {
  while (!at.empty() && std::string_view("rnNoORVA").find(at.front()) != std::string_view::npos) at.remove_prefix(1);
}

void skip_quoted(std::string_view& at) {
  if (at.starts_with('"')) at.remove_prefix(std::min(at.size(), at.find('"', 1) + 1));
}

std::size_t take_number(std::string_view& at) {
  std::size_t number = 0;
  const auto [end, _] = std::from_chars(at.data(), at.data() + at.size(), number);
  at.remove_prefix(static_cast<std::size_t>(end - at.data()));
  return number;
}

// Past a bracket's partner; those in names of templates are pairs, too.
void skip_nested(std::string_view& at, char open, char close) {
  std::size_t depth = 0;
  do {
    depth += at.front() == open;
    depth -= at.front() == close;
    at.remove_prefix(1);
  } while (depth != 0 && !at.empty());
}

void place(Type& whole, const Type& part, std::size_t offset) {
  for (const Scalar& one : part.scalars) whole.scalars.push_back({one.kind, offset + one.offset, one.size});
  if (whole.unknown.empty()) whole.unknown = part.unknown;
  whole.alignment = std::max(whole.alignment, part.alignment);
}

std::size_t rounded(std::size_t size, std::size_t alignment) { return (size + alignment - 1) / alignment * alignment; }

// "{name=types}", "(name=types)"
void take_members(std::string_view& at, Type& whole, bool is_union, char close) {
  int templates = 0;
  while (!at.empty() && (templates != 0 || (at.front() != '=' && at.front() != close))) {
    templates += at.front() == '<' ? 1 : at.front() == '>' ? -1 : 0;
    at.remove_prefix(1);
  }
  if (!at.starts_with('=')) {
    whole.unknown = "a structure without members";
  } else {
    at.remove_prefix(1);
  }
  while (!at.empty() && at.front() != close) {
    skip_quoted(at);
    const Type member = take_type(at);
    const std::size_t offset = is_union ? 0 : rounded(whole.size, member.alignment);
    place(whole, member, offset);
    whole.size = std::max(whole.size, offset + member.size);
    if (!whole.unknown.empty() && member.size == 0) break;
  }
  whole.size = rounded(whole.size, whole.alignment);
}

void take_array(std::string_view& at, Type& whole) {
  const std::size_t count = take_number(at);
  const Type element = take_type(at);
  for (std::size_t i = 0; i < count; ++i) place(whole, element, i * element.size);
  whole.size = count * element.size;
}

}  // namespace

Type take_type(std::string_view& at) {
  skip_qualifiers(at);
  Type type;
  if (at.empty()) {
    type.unknown = "a type that ends too soon";
    return type;
  }
  const std::string_view whole = at;
  const char kind = at.front();
  if (kind == '{' || kind == '(' || kind == '[') {
    std::string_view inside = at.substr(1);
    if (kind == '[') {
      take_array(inside, type);
    } else {
      take_members(inside, type, kind == '(', kind == '{' ? '}' : ')');
    }
    skip_nested(at, kind, kind == '{' ? '}' : kind == '(' ? ')' : ']');
  } else if (kind == 'v') {
    at.remove_prefix(1);
  } else if (const std::size_t size = size_of(kind); size != 0) {
    at.remove_prefix(1);
    if (kind == '^') take_type(at);
    if (kind == '@') {
      if (at.starts_with('?')) at.remove_prefix(1);
      if (at.starts_with('<')) skip_nested(at, '<', '>');  // a block's own types
      skip_quoted(at);
    }
    type.size = type.alignment = size;
    type.scalars = {{kind, 0, size}};
  } else {
    type.unknown = "a type of encoding '" + std::string(at) + "'";
    at = {};
  }
  type.encoding = whole.substr(0, whole.size() - at.size());
  return type;
}

std::vector<Type> types_of_method(std::string_view at) {
  std::vector<Type> types;
  while (!at.empty()) {
    types.push_back(take_type(at));
    if (at.starts_with('-') || at.starts_with('+')) at.remove_prefix(1);
    take_number(at);  // where a 32-bit GCC had it
  }
  return types;
}

}  // namespace metalloid::objective_c
