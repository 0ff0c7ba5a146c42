// Leaves out explicit instantiations of kernels that nobody wants code of:
//
//   template [[host_name("sum_half")]] [[kernel]] decltype(sum<half>) sum<half>;
//
// The source was read with them before, when its library was made, and what is wrong with them was said. Parsing the
// thousands that kernel libraries have takes several times as long as all else.

#include "frontend/tokens/rewrite.h"

namespace metalloid::frontend::tokens {
namespace {

using namespace clang;

// The name in `("a" "b")`, whose parenthesis is at `open`; empty if it is not made of plain texts alone.
std::string plain_name(const TokenList& tokens, std::size_t open, const TokenFactory& factory) {
  if (open >= tokens.size() || tokens[open].isNot(tok::l_paren)) return {};
  const std::size_t close = skip_balanced(tokens, open) - 1;
  std::string name;
  for (std::size_t i = open + 1; i < close; ++i) {
    if (tokens[i].isNot(tok::string_literal) || tokens[i].hasUDSuffix()) return {};
    const std::string text = factory.spelling(tokens[i]);
    if (text.size() < 2 || text.front() != '"' || text.find('\\') != std::string::npos) return {};
    name += text.substr(1, text.size() - 2);
  }
  return name;
}

// Index after the explicit instantiation of a kernel that begins at `start`, if it has a name and another one;
// else `start`.
std::size_t skip_instantiation(const TokenList& tokens, std::size_t start, std::string_view wanted,
                               const TokenFactory& factory) {
  const bool declares = start > 0 && tokens[start - 1].is(tok::kw_extern);
  if (tokens[start].isNot(tok::kw_template) || declares || !is_attribute_start(tokens, start + 1)) return start;
  std::string name;
  bool is_kernel = false;
  std::size_t i = start + 1;
  while (is_attribute_start(tokens, i)) {
    const std::size_t end = skip_attribute(tokens, i);
    for (i += 2; i + 2 < end;) {
      const llvm::StringRef attribute = word(tokens[i]);
      if (attribute == "host_name") name = plain_name(tokens, i + 1, factory);
      is_kernel |= attribute == "kernel";
      ++i;
      if (tokens[i].is(tok::l_paren)) i = skip_balanced(tokens, i);
    }
    i = end;
  }
  if (i < tokens.size()) is_kernel |= word(tokens[i]) == "kernel";
  if (!is_kernel || name.empty() || name == wanted) return start;
  while (i < tokens.size() && !tokens[i].isOneOf(tok::semi, tok::l_brace, tok::r_brace, tok::eof)) {
    i = tokens[i].is(tok::l_paren) ? skip_balanced(tokens, i) : i + 1;
  }
  return i < tokens.size() && tokens[i].is(tok::semi) ? i + 1 : start;
}

}  // namespace

void leave_out_instantiations(TokenList& tokens, std::string_view wanted, const TokenFactory& factory) {
  TokenList out;
  out.reserve(tokens.size());
  for (std::size_t i = 0; i < tokens.size();) {
    const std::size_t after = skip_instantiation(tokens, i, wanted, factory);
    if (after == i) {
      out.push_back(tokens[i++]);
    } else {
      i = after;
    }
  }
  tokens = std::move(out);
}

}  // namespace metalloid::frontend::tokens
