// `thread` is the default address space, so the word vanishes. So do the spaces that only graphics functions have,
// whose kind is refused when somebody wants to run one. `coherent` and `coherent(device)` ask for what every engine's
// memory does anyway. The other spaces take the name under which Sema knows their attribute, and `constant` brings
// `const`: memory in it cannot be written, and overloads for `const constant` objects then win over generic ones, as
// they do in Metal. Only in the head of a specialisation does the programmer's spelling stay: `struct S<constant T*>`
// and `struct S<const constant T*>` may stand side by side.
//
// Metal wants the space named in every pointer and reference type, so where `thread` stood is remembered.

#include "frontend/tokens/rewrite.h"

namespace metalloid::frontend::tokens {

using namespace clang;

namespace {

bool is_declarator(const Token& token) { return token.isOneOf(tok::star, tok::amp, tok::ampamp); }

// Index of the bracket that the one at `close` closes, or 0.
std::size_t skip_back(const TokenList& tokens, std::size_t close) {
  const bool is_angle = tokens[close].isOneOf(tok::greater, tok::greatergreater);
  int depth = 0;
  for (std::size_t i = close; i > 0; --i) {
    const Token& token = tokens[i];
    if (is_angle) {
      depth += token.is(tok::greater) ? 1 : token.is(tok::greatergreater) ? 2 : token.is(tok::less) ? -1 : 0;
      if (token.isOneOf(tok::semi, tok::l_brace, tok::r_brace)) return 0;
    } else {
      depth += token.isOneOf(tok::r_paren, tok::r_square) ? 1 : token.isOneOf(tok::l_paren, tok::l_square) ? -1 : 0;
    }
    if (depth <= 0) return i;
  }
  return 0;
}

// `thread`, or as good as that.
bool is_thread(const TokenList& tokens, std::size_t index) {
  const llvm::StringRef text = word(tokens[index]);
  if (text == "thread") return true;
  if (text != "ray_data" && text != "object_data" && text != "threadgroup_imageblock") return false;
  // Not a name of the user's: `ray_data float& payload`, but `ray_data r = ray_data();`.
  return index + 2 < tokens.size() && !word(tokens[index + 1]).empty() &&
         (is_declarator(tokens[index + 2]) || tokens[index + 2].isOneOf(tok::coloncolon, tok::less) ||
          !word(tokens[index + 2]).empty());
}

// True if the type before the `*` or `&` at `index` says `thread`.
bool says_thread(const TokenList& tokens, std::size_t index, const std::vector<bool>& in_parentheses) {
  std::size_t i = index;
  while (i > 0 && tokens[i - 1].is(tok::l_paren)) --i;  // thread float (&values)[4]
  while (i-- > 0) {
    const Token& token = tokens[i];
    if (is_thread(tokens, i)) return true;
    if (token.isOneOf(tok::greater, tok::greatergreater, tok::r_paren, tok::r_square)) {
      i = skip_back(tokens, i);
      if (i == 0) return false;
      continue;
    }
    // thread float *a, *b;
    if (!in_parentheses[i] && (token.is(tok::comma) || is_declarator(token) || token.is(tok::equal))) continue;
    if (token.isNot(tok::coloncolon) && !token.getIdentifierInfo()) return false;
  }
  return false;
}

}  // namespace

std::set<SourceLocation> find_thread_declarators(const TokenList& tokens) {
  std::vector<bool> in_parentheses(tokens.size(), false);
  std::vector<tok::TokenKind> open;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (token.isOneOf(tok::r_paren, tok::r_brace) && !open.empty()) open.pop_back();
    in_parentheses[i] = !open.empty() && open.back() == tok::l_paren;
    if (token.isOneOf(tok::l_paren, tok::l_brace)) open.push_back(token.getKind());
  }
  std::set<SourceLocation> found;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (is_declarator(tokens[i]) && says_thread(tokens, i, in_parentheses)) found.insert(tokens[i].getLocation());
  }
  return found;
}

void remove_thread_qualifiers(TokenList& tokens) {
  TokenList out;
  out.reserve(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (is_thread(tokens, i)) continue;
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
