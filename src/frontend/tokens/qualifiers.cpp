// `thread` is the default address space, so the word vanishes. `coherent` and `coherent(device)` ask for what
// every engine's memory does anyway. The other spaces take the name under which Sema knows their attribute, and
// `constant` brings `const`: memory in it cannot be written, and overloads for `const constant` objects then win
// over generic ones, as they do in Metal. Only in the head of a specialisation does the programmer's spelling stay:
// `struct S<constant T*>` and `struct S<const constant T*>` may stand side by side.

#include "frontend/tokens/rewrite.h"

namespace metalloid::frontend::tokens {

using namespace clang;

void remove_thread_qualifiers(TokenList& tokens) {
  TokenList out;
  out.reserve(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (word(tokens[i]) == "thread") continue;
    if (word(tokens[i]) == "coherent") {
      const std::size_t next = i + 1;
      if (next < tokens.size() && tokens[next].is(tok::l_paren)) {
        i = skip_balanced(tokens, next) - 1;
        continue;
      }
      if (next < tokens.size() && is_address_space(tokens[next])) continue;
    }
    out.push_back(tokens[i]);
  }
  tokens = std::move(out);
}

void name_address_spaces(TokenList& tokens, TokenFactory& factory) {
  auto& identifiers = factory.preprocessor().getIdentifierTable();
  IdentifierInfo* const device = &identifiers.get("__global");
  IdentifierInfo* const constant = &identifiers.get("__constant");
  IdentifierInfo* const threadgroup = &identifiers.get("__local");
  TokenList out;
  out.reserve(tokens.size() + 64);
  std::size_t specialisation_end = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    Token& token = tokens[i];
    if (token.is(tok::less) && i >= 2 && tokens[i - 1].is(tok::identifier) &&
        tokens[i - 2].isOneOf(tok::kw_struct, tok::kw_class)) {
      specialisation_end = skip_template_arguments(tokens, i);
    }
    if (is_address_space(token) && word(token).starts_with("__")) {  // OpenCL's own spelling
      factory.error(token.getLocation(), "unknown address space \"%0\"") << word(token);
    }
    if (token.is(tok::kw___global)) token.setIdentifierInfo(device);
    if (token.is(tok::kw___constant)) token.setIdentifierInfo(constant);
    if (token.is(tok::kw___local)) token.setIdentifierInfo(threadgroup);
    out.push_back(token);
    if (token.is(tok::kw___constant) && i >= specialisation_end)
      out.push_back(factory.identifier("const", token.getLocation()));
  }
  tokens = std::move(out);
}

}  // namespace metalloid::frontend::tokens
