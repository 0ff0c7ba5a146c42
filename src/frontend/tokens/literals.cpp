// `1.5bf` becomes `__metalloid_bfloat_literal(1.5f)` (MSL spec §2.1: suffixes bf and BF), and `1.5` becomes `1.5f`:
// MSL has no double, and Clang's own single-precision constants lose their float type inside templates. Clang's macros
// of half (`__FLT16_MAX__`) end in F16, which is h here. Sources that ask for a double are told so.

#include <llvm/ADT/StringExtras.h>

#include "frontend/files/library_places.h"
#include "frontend/tokens/rewrite.h"

namespace metalloid::frontend::tokens {

using namespace clang;

namespace {

bool is_bfloat_literal(llvm::StringRef text) {
  if (!text.ends_with("bf") && !text.ends_with("BF")) return false;
  const bool is_hexadecimal = text.starts_with_insensitive("0x");
  return !is_hexadecimal || text.contains_insensitive("p");
}

bool is_unsuffixed_floating_literal(llvm::StringRef text) {
  const bool is_hexadecimal = text.starts_with_insensitive("0x");
  const bool is_floating =
      is_hexadecimal ? text.contains_insensitive("p") : text.contains('.') || text.contains_insensitive("e");
  return is_floating && (llvm::isDigit(text.back()) || text.back() == '.');
}

// `1.5L`, which would be a long double.
bool is_long_floating_literal(llvm::StringRef text) {
  return text.ends_with_insensitive("l") && is_unsuffixed_floating_literal(text.drop_back());
}

// Places of tokens take longer to look up than all else here.
void reject_double(const Token& token, const char* type, TokenFactory& factory) {
  if (is_written_in_library(factory.preprocessor().getSourceManager(), token.getLocation())) return;
  factory.error(token.getLocation(), "'%0' is not supported in Metal") << type;
}

}  // namespace

void expand_bfloat_literals(TokenList& tokens, TokenFactory& factory) {
  TokenList out;
  out.reserve(tokens.size());
  for (const Token& token : tokens) {
    if (token.is(tok::kw_double)) reject_double(token, "double", factory);
    if (token.isNot(tok::numeric_constant) || token.getLength() < 2) {
      out.push_back(token);
      continue;
    }
    const std::string text = factory.spelling(token);
    if (is_long_floating_literal(text)) reject_double(token, "long double", factory);
    const SourceLocation location = token.getLocation();
    if (text.ends_with("F16") && !llvm::StringRef(text).starts_with_insensitive("0x")) {
      out.push_back(factory.number(text.substr(0, text.size() - 3) + "h", location));
      continue;
    }
    if (is_unsuffixed_floating_literal(text)) {
      out.push_back(factory.number(text + "f", location));
      continue;
    }
    if (!is_bfloat_literal(text)) {
      out.push_back(token);
      continue;
    }
    out.push_back(factory.identifier("__metalloid_bfloat_literal", location));
    out.push_back(factory.punctuator(tok::l_paren, location));
    out.push_back(factory.number(text.substr(0, text.size() - 2), location));
    out.push_back(factory.punctuator(tok::r_paren, location));
  }
  tokens = std::move(out);
}

}  // namespace metalloid::frontend::tokens
