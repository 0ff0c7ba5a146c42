// String literals and __func__ as arguments of calls. In MSL they are `constant const char*` (MSL spec §4: string
// literals are in the constant address space); Clang keeps them in the default space, which does not convert to it.
//
//   f("text", __func__)   becomes   f(({ static constant const char text[] = "text"; text + 0; }), ...)
//
// Only inside of functions, and only whole arguments of calls: an initialiser or an operand of sizeof stays an array.
#include "frontend/tokens/rewrite.h"
#include "frontend/tokens/scopes.h"

namespace metalloid::frontend::tokens {

using namespace clang;

namespace {

constexpr const char* variable_name = "__metalloid_text";

bool is_function_name(const Token& token) { return token.isOneOf(tok::kw___func__, tok::kw___FUNCTION__); }
bool is_text(const Token& token) { return token.is(tok::string_literal) || is_function_name(token); }

// Index after the adjacent literals that make one string.
std::size_t skip_text(const TokenList& tokens, std::size_t i) {
  if (is_function_name(tokens[i])) return i + 1;
  while (i < tokens.size() && tokens[i].is(tok::string_literal)) ++i;
  return i;
}

// True for the `(` of a call to something that is not the compiler's own.
bool opens_call(const TokenList& tokens, std::size_t paren) {
  if (paren == 0) return false;
  const Token& callee = tokens[paren - 1];
  if (callee.is(tok::greater)) return true;
  return callee.is(tok::identifier) && !word(callee).starts_with("__builtin") && word(callee) != "annotate";
}

bool any_text_argument(const TokenList& tokens) {
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    if (!is_text(tokens[i])) continue;
    if (tokens[i - 1].is(tok::comma) || (tokens[i - 1].is(tok::l_paren) && opens_call(tokens, i - 1))) return true;
  }
  return false;
}

// The name before the first parameter list of the declaration at `head`.
std::string declared_name(const TokenList& tokens, std::size_t head, std::size_t brace) {
  for (std::size_t i = skip_template_headers(tokens, head); i + 1 < brace; ++i) {
    if (is_attribute_start(tokens, i)) {
      i = skip_attribute(tokens, i) - 1;
    } else if (tokens[i].isOneOf(tok::kw___attribute, tok::kw_decltype, tok::kw_alignas) &&
               tokens[i + 1].is(tok::l_paren)) {
      i = skip_balanced(tokens, i + 1) - 1;
    } else if (tokens[i].is(tok::identifier) && tokens[i + 1].is(tok::l_paren)) {
      return word(tokens[i]).str();
    }
  }
  return {};
}

class TextRewriter {
 public:
  TextRewriter(const TokenList& tokens, TokenFactory& factory)
      : tokens_(tokens), factory_(factory), scopes_(find_scopes(tokens)) {}

  TokenList run() {
    std::vector<std::size_t> open;  // brackets around the token
    std::size_t head = 0;           // where the declaration outside of functions began
    std::string function;
    for (std::size_t i = 0; i < tokens_.size();) {
      const Token& token = tokens_[i];
      if (is_attribute_start(tokens_, i)) {
        const std::size_t end = skip_attribute(tokens_, i);
        out_.insert(out_.end(), tokens_.begin() + i, tokens_.begin() + end);
        i = end;
        continue;
      }
      if (scopes_[i] != ScopeKind::function_scope) {
        if (token.is(tok::l_brace)) function = declared_name(tokens_, head, i);
        if (token.isOneOf(tok::semi, tok::l_brace, tok::r_brace)) head = i + 1;
      }
      if (token.isOneOf(tok::l_paren, tok::l_brace, tok::l_square)) open.push_back(i);
      if (token.isOneOf(tok::r_paren, tok::r_brace, tok::r_square) && !open.empty()) open.pop_back();
      if (is_text(token) && scopes_[i] == ScopeKind::function_scope && is_argument(i, open)) {
        const std::size_t end = skip_text(tokens_, i);
        append(i, end, function);
        i = end;
        continue;
      }
      out_.push_back(token);
      ++i;
    }
    return std::move(out_);
  }

 private:
  bool is_argument(std::size_t i, const std::vector<std::size_t>& open) const {
    const std::size_t end = skip_text(tokens_, i);
    return !open.empty() && tokens_[open.back()].is(tok::l_paren) && opens_call(tokens_, open.back()) &&
           tokens_[i - 1].isOneOf(tok::l_paren, tok::comma) && end < tokens_.size() &&
           tokens_[end].isOneOf(tok::r_paren, tok::comma);
  }

  void append(std::size_t begin, std::size_t end, const std::string& function) {
    const SourceLocation location = tokens_[begin].getLocation();
    const auto punctuator = [&](tok::TokenKind kind) { out_.push_back(factory_.punctuator(kind, location)); };
    const auto identifier = [&](const char* text) { out_.push_back(factory_.identifier(text, location)); };
    punctuator(tok::l_paren);
    punctuator(tok::l_brace);
    for (const char* text : {"static", "constant", "const", "char", variable_name}) identifier(text);
    punctuator(tok::l_square);
    punctuator(tok::r_square);
    punctuator(tok::equal);
    if (is_function_name(tokens_[begin])) {
      out_.push_back(factory_.string(function, location));
    } else {
      out_.insert(out_.end(), tokens_.begin() + begin, tokens_.begin() + end);
    }
    punctuator(tok::semi);
    identifier(variable_name);
    punctuator(tok::plus);
    out_.push_back(factory_.number("0", location));
    punctuator(tok::semi);
    punctuator(tok::r_brace);
    punctuator(tok::r_paren);
  }

  const TokenList& tokens_;
  TokenFactory& factory_;
  std::vector<ScopeKind> scopes_;
  TokenList out_;
};

}  // namespace

void place_texts_in_constant_space(TokenList& tokens, TokenFactory& factory) {
  if (any_text_argument(tokens)) tokens = TextRewriter(tokens, factory).run();
}

}  // namespace metalloid::frontend::tokens
