// `1.5bf` becomes `__metalloid_bfloat_literal(1.5f)` (MSL spec §2.1: suffixes bf and BF).

#include "frontend/tokens/rewrite.h"

namespace metalloid::frontend::tokens {

using namespace clang;

namespace {

bool is_bfloat_literal(llvm::StringRef text) {
  if (!text.ends_with("bf") && !text.ends_with("BF")) return false;
  const bool is_hexadecimal = text.starts_with_insensitive("0x");
  return !is_hexadecimal || text.contains_insensitive("p");
}

}  // namespace

void expand_bfloat_literals(TokenList& tokens, TokenFactory& factory) {
  TokenList out;
  out.reserve(tokens.size());
  for (const Token& token : tokens) {
    if (token.isNot(tok::numeric_constant) || token.getLength() < 3) {
      out.push_back(token);
      continue;
    }
    const std::string text = factory.spelling(token);
    if (!is_bfloat_literal(text)) {
      out.push_back(token);
      continue;
    }
    const SourceLocation location = token.getLocation();
    out.push_back(factory.identifier("__metalloid_bfloat_literal", location));
    out.push_back(factory.punctuator(tok::l_paren, location));
    out.push_back(factory.number(text.substr(0, text.size() - 2), location));
    out.push_back(factory.punctuator(tok::r_paren, location));
  }
  tokens = std::move(out);
}

}  // namespace metalloid::frontend::tokens
