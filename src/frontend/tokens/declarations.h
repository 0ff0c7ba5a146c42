// Which declarations a source makes outside of functions and classes, told from tokens alone.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <clang/Basic/IdentifierTable.h>

#include "frontend/tokens/token_list.h"

namespace metalloid::frontend::tokens {

struct ScopeDeclaration {
  std::size_t begin = 0, end = 0;                        // tokens
  std::vector<const clang::IdentifierInfo*> names = {};  // all that it declares; none where that is not plain to see
  bool is_kernel = false;                     // code that a host can ask for: a definition or an instantiation
  bool is_instantiation = false;              // explicit, of a kernel
  bool is_check = false;                      // static_assert
  std::optional<std::string> host_name = {};  // empty if it is not made of plain texts alone
};

// In order; between them are only the braces of namespaces, and pragmas. Nothing if a part of the source is no
// declaration that is known here.
std::optional<std::vector<ScopeDeclaration>> find_declarations(const TokenList& tokens, const TokenFactory& factory);

}  // namespace metalloid::frontend::tokens
