// Which kind of scope every token stands in, told from tokens alone: enough to know a declaration in a function
// body from one in a class or a namespace.
#pragma once

#include <cstdint>
#include <vector>

#include "frontend/tokens/token_list.h"

namespace metalloid::frontend::tokens {

enum class ScopeKind : std::uint8_t {
  namespace_scope,
  class_scope,
  function_scope,  // bodies, their nested blocks, lambdas, initialisers inside them
  other,           // enumerators, initialisers outside functions
};

// One entry per token: the scope it stands in. A brace counts to the scope outside of it.
std::vector<ScopeKind> find_scopes(const TokenList& tokens);

// True where a declaration or statement can begin: not inside parentheses, after `;`, a brace, or a pragma.
bool is_statement_start(const TokenList& tokens, std::size_t index);

// Index after `template <...>` headers (and `requires`-free attributes between them) at `index`.
std::size_t skip_template_headers(const TokenList& tokens, std::size_t index);

}  // namespace metalloid::frontend::tokens
