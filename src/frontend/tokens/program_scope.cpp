// Built-in values and buffers that the whole program shares, which every kernel that uses them takes as arguments:
//
//   uint3 position [[thread_position_in_grid]];  ->  extern uint3 position ...;
//   device float* values [[buffer(0)]];          ->  extern device float* values ...;
//
// Code generation gives them their values (program_arguments.h).

#include "frontend/reflection/kernel_arguments.h"
#include "frontend/tokens/rewrite.h"
#include "frontend/tokens/scopes.h"

namespace metalloid::frontend::tokens {

using namespace clang;

namespace {

bool names_an_argument(llvm::StringRef attribute) {
  return builtin_named(attribute) != Builtin::none || attribute == "buffer" || attribute == "texture" ||
         attribute == "sampler" || attribute == "threadgroup";
}

// Index of the `;` after the variable declared at `begin` if an attribute makes it an argument, else 0.
std::size_t find_end(const TokenList& tokens, std::size_t begin) {
  bool is_argument = false;
  for (std::size_t i = begin; i < tokens.size();) {
    const Token& token = tokens[i];
    if (token.is(tok::semi)) return is_argument ? i : 0;
    if (is_attribute_start(tokens, i)) {
      const std::size_t after = skip_attribute(tokens, i);
      // A function's attributes stand before it, a variable's after it.
      is_argument |= i > begin && i + 2 < after && names_an_argument(word(tokens[i + 2]));
      i = after;
    } else if (token.is(tok::less)) {
      const std::size_t after = skip_template_arguments(tokens, i);
      if (after == i) return 0;
      i = after;
    } else if (token.isOneOf(tok::l_paren, tok::l_brace, tok::r_brace, tok::equal, tok::comma, tok::eof,
                             tok::kw_template, tok::kw_using, tok::kw_typedef) ||
               token.isAnnotation()) {
      return 0;
    } else {
      ++i;
    }
  }
  return 0;
}

}  // namespace

void rewrite_program_arguments(TokenList& tokens, TokenFactory& factory) {
  const std::vector<ScopeKind> scopes = find_scopes(tokens);
  TokenList out;
  out.reserve(tokens.size() + 16);
  std::size_t end = 0;  // of the declaration being read
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > end && scopes[i] == ScopeKind::namespace_scope && is_statement_start(tokens, i)) {
      end = find_end(tokens, i);
      if (end > i) out.push_back(factory.identifier("extern", tokens[i].getLocation()));
      end = std::max(end, i);
    }
    if (i < end && tokens[i].isOneOf(tok::kw_static, tok::kw_extern)) continue;
    out.push_back(tokens[i]);
  }
  tokens = std::move(out);
}

}  // namespace metalloid::frontend::tokens
