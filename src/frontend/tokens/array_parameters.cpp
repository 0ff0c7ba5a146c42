// A parameter declared as an array in an address space is a pointer, which Clang says only of plain arrays:
//
//   constant float weights[16]   ->  constant float *weights
//   device float tile[4][8]      ->  device float (*tile)[8]

#include "frontend/tokens/rewrite.h"

namespace metalloid::frontend::tokens {

using namespace clang;

namespace {

// Index of the name in the parameter at `begin` if it is an array in an address space, else 0.
std::size_t find_array_name(const TokenList& tokens, std::size_t begin) {
  bool has_space = false;
  for (std::size_t i = begin; i + 1 < tokens.size();) {
    const Token& token = tokens[i];
    if (token.is(tok::less)) {
      const std::size_t after = skip_template_arguments(tokens, i);
      if (after == i) return 0;
      i = after;
      continue;
    }
    if (is_address_space(token)) has_space = true;
    const bool is_word = token.is(tok::identifier) || token.getIdentifierInfo() != nullptr;
    if (!is_word && token.isNot(tok::coloncolon)) return 0;
    if (has_space && token.is(tok::identifier) && i > begin + 1 && tokens[i + 1].is(tok::l_square) &&
        !is_attribute_start(tokens, i + 1)) {
      return i;
    }
    ++i;
  }
  return 0;
}

}  // namespace

void rewrite_array_parameters(TokenList& tokens, TokenFactory& factory) {
  TokenList out;
  out.reserve(tokens.size() + 64);
  int parentheses = 0;
  for (std::size_t i = 0; i < tokens.size();) {
    const Token& token = tokens[i];
    if (token.is(tok::l_paren)) ++parentheses;
    if (token.is(tok::r_paren)) --parentheses;
    out.push_back(token);
    ++i;
    if (parentheses == 0 || !token.isOneOf(tok::l_paren, tok::comma)) continue;
    const std::size_t name = find_array_name(tokens, i);
    if (name == 0) continue;
    const SourceLocation location = tokens[name].getLocation();
    const std::size_t after_first = skip_balanced(tokens, name + 1);
    const bool has_more = tokens[after_first].is(tok::l_square) && !is_attribute_start(tokens, after_first);
    out.insert(out.end(), tokens.begin() + i, tokens.begin() + name);
    if (has_more) out.push_back(factory.punctuator(tok::l_paren, location));
    out.push_back(factory.punctuator(tok::star, location));
    out.push_back(tokens[name]);
    if (has_more) out.push_back(factory.punctuator(tok::r_paren, location));
    i = after_first;
  }
  tokens = std::move(out);
}

}  // namespace metalloid::frontend::tokens
