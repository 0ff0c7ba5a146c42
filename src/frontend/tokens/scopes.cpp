#include "frontend/tokens/scopes.h"

namespace metalloid::frontend::tokens {

using namespace clang;

namespace {

// The scope that the `{` at `brace` opens. The declaration it belongs to begins at `head`.
ScopeKind classify_brace(const TokenList& tokens, std::size_t head, std::size_t brace, ScopeKind outer) {
  std::size_t i = skip_template_headers(tokens, head);
  bool saw_class_key = false;
  bool saw_colon_after_key = false;
  bool saw_parentheses = false;
  bool saw_equal = false;
  for (; i < brace; ++i) {
    const Token& token = tokens[i];
    if (token.isOneOf(tok::kw_namespace) ||
        (token.is(tok::kw_extern) && i + 1 < brace && tokens[i + 1].is(tok::string_literal))) {
      return ScopeKind::namespace_scope;
    }
    if (token.is(tok::kw_enum) && !saw_parentheses) return ScopeKind::other;
    if (token.isOneOf(tok::kw_struct, tok::kw_class, tok::kw_union) && !saw_parentheses) saw_class_key = true;
    if (token.is(tok::colon) && saw_class_key && !saw_parentheses) saw_colon_after_key = true;
    if (token.isOneOf(tok::kw_alignas, tok::kw___attribute, tok::kw_decltype, tok::kw___declspec) && i + 1 < brace &&
        tokens[i + 1].is(tok::l_paren)) {
      i = skip_balanced(tokens, i + 1) - 1;
      continue;
    }
    if (is_attribute_start(tokens, i)) {
      i = skip_attribute(tokens, i) - 1;
      continue;
    }
    if (token.is(tok::l_paren) && !saw_colon_after_key) saw_parentheses = true;
    if (token.is(tok::l_paren)) i = skip_balanced(tokens, i) - 1;
    if (token.is(tok::equal) && !saw_parentheses) saw_equal = true;
  }
  if (saw_class_key && !saw_parentheses && !saw_equal) return ScopeKind::class_scope;
  if (outer == ScopeKind::function_scope) return ScopeKind::function_scope;
  if (saw_equal || !saw_parentheses) return ScopeKind::other;
  return ScopeKind::function_scope;
}

}  // namespace

std::size_t skip_template_headers(const TokenList& tokens, std::size_t index) {
  while (index + 1 < tokens.size() && tokens[index].is(tok::kw_template) && tokens[index + 1].is(tok::less)) {
    const std::size_t after = skip_template_arguments(tokens, index + 1);
    if (after == index + 1) break;
    index = after;
  }
  return index;
}

std::vector<ScopeKind> find_scopes(const TokenList& tokens) {
  std::vector<ScopeKind> kinds(tokens.size(), ScopeKind::namespace_scope);
  struct Open {
    ScopeKind kind;
    int parentheses;  // of the scope outside, restored at the closing brace
  };
  std::vector<Open> stack;
  ScopeKind current = ScopeKind::namespace_scope;
  std::size_t head = 0;
  int parentheses = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    kinds[i] = current;
    if (token.is(tok::l_paren)) ++parentheses;
    if (token.is(tok::r_paren)) --parentheses;
    if (token.is(tok::l_brace)) {
      // Inside parentheses: a lambda's body or a braced argument. Only functions hold statements there.
      const ScopeKind opened = parentheses > 0 ? ScopeKind::function_scope : classify_brace(tokens, head, i, current);
      stack.push_back({current, parentheses});
      current = opened;
      parentheses = 0;
      head = i + 1;
    } else if (token.is(tok::r_brace)) {
      if (!stack.empty()) {
        current = stack.back().kind;
        parentheses = stack.back().parentheses;
        stack.pop_back();
      }
      kinds[i] = current;
      head = i + 1;
    } else if ((token.is(tok::semi) && parentheses <= 0) ||
               (token.is(tok::colon) && i > 0 &&
                tokens[i - 1].isOneOf(tok::kw_public, tok::kw_private, tok::kw_protected))) {
      head = i + 1;
    }
  }
  return kinds;
}

bool is_statement_start(const TokenList& tokens, std::size_t index) {
  if (index == 0) return true;
  const Token& previous = tokens[index - 1];
  if (previous.isOneOf(tok::semi, tok::l_brace, tok::r_brace) || previous.isAnnotation()) return true;
  if (previous.is(tok::colon) && index >= 2) {
    return tokens[index - 2].isOneOf(tok::kw_public, tok::kw_private, tok::kw_protected);
  }
  return false;
}

}  // namespace metalloid::frontend::tokens
