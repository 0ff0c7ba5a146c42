// Variables in an address space of their own:
//
//   threadgroup float tile[64];                 in a function  ->  static threadgroup float tile[64];
//   threadgroup float sums[32] = {0};            in a function ->  ...; __metalloid_zero_threadgroup(sums);
//   constant bool flag [[function_constant(0)]];               ->  extern constant bool flag ...;
//
// Clang turns the first into an addrspace(3) global per kernel (and per template instantiation). The third is
// left for the engine to define. Metal's compiler takes zeros as an initialiser, though the specification does not. A
// declarator with `*` or `&` is a pointer into the space, not a variable in it, and stays as it is.

#include "frontend/tokens/rewrite.h"
#include "frontend/tokens/scopes.h"

namespace metalloid::frontend::tokens {

using namespace clang;

namespace {

struct Declaration {
  std::size_t begin = 0;  // after template headers
  std::size_t end = 0;    // at the `;`, `=` or `{` after the first declarator
  bool is_threadgroup = false;
  bool is_constant = false;
  bool is_pointer = false;
  bool is_static = false;
  bool is_extern = false;
  bool is_function_constant = false;
};

// Reads the declaration at `begin` up to the end of its first declarator; false if it is no variable.
bool read_declaration(const TokenList& tokens, std::size_t begin, Declaration& declaration) {
  declaration.begin = begin;
  for (std::size_t i = begin; i < tokens.size();) {
    const Token& token = tokens[i];
    if (token.isOneOf(tok::semi, tok::equal, tok::l_brace)) {
      declaration.end = i;
      return declaration.is_threadgroup || declaration.is_constant;
    }
    if (token.isOneOf(tok::kw_alignas, tok::kw___attribute, tok::kw_decltype) && i + 1 < tokens.size() &&
        tokens[i + 1].is(tok::l_paren)) {
      i = skip_balanced(tokens, i + 1);
      continue;
    }
    if (is_attribute_start(tokens, i)) {
      const std::size_t after = skip_attribute(tokens, i);
      for (std::size_t k = i; k < after; ++k) {
        if (word(tokens[k]) == "function_constant") declaration.is_function_constant = true;
      }
      i = after;
      continue;
    }
    if (token.is(tok::l_square)) {
      i = skip_balanced(tokens, i);
      continue;
    }
    if (token.is(tok::less)) {
      const std::size_t after = skip_template_arguments(tokens, i);
      if (after == i) return false;
      i = after;
      continue;
    }
    if (token.isOneOf(tok::l_paren, tok::r_paren, tok::r_brace, tok::eof, tok::kw_operator, tok::kw_return,
                      tok::kw_using, tok::kw_typedef, tok::kw_friend, tok::kw_template) ||
        token.isAnnotation()) {
      return false;
    }
    if (is_threadgroup(token)) declaration.is_threadgroup = true;
    if (is_constant(token)) declaration.is_constant = true;
    if (token.isOneOf(tok::star, tok::amp, tok::ampamp)) declaration.is_pointer = true;
    if (token.is(tok::kw_static)) declaration.is_static = true;
    if (token.is(tok::kw_extern)) declaration.is_extern = true;
    ++i;
  }
  return false;
}

// `float`, `uint4`, `T`: a word that can only be a type where zeros are expected.
bool names_type(llvm::StringRef name) {
  for (const char* scalar : {"bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half",
                             "float", "bfloat", "size_t"}) {
    llvm::StringRef rest = name;
    if (rest.consume_front(scalar) && (rest.empty() || (rest.size() == 1 && rest[0] >= '2' && rest[0] <= '4')))
      return true;
  }
  return name.ends_with("_t") || name.ends_with("_type") || (!name.empty() && name[0] >= 'A' && name[0] <= 'Z');
}

// `T(0)`, `T{}`, `(T)0`.
bool is_cast(const TokenList& tokens, std::size_t i) {
  if (i == 0 || i + 2 >= tokens.size()) return false;
  if (tokens[i + 1].isOneOf(tok::l_paren, tok::l_brace)) return true;
  return tokens[i - 1].is(tok::l_paren) && tokens[i + 1].is(tok::r_paren) &&
         tokens[i + 2].isOneOf(tok::numeric_constant, tok::l_paren, tok::l_brace);
}

// Index after an initialiser of nothing but zeros at `begin` (`= {0}`, `= 0.0f`, `{}`, `= {(float)0.f}`, `= {T(0)}`),
// else 0.
std::size_t skip_zero_initialiser(const TokenList& tokens, std::size_t begin, TokenFactory& factory) {
  std::size_t i = begin;
  for (; i < tokens.size() && tokens[i].isNot(tok::semi); ++i) {
    const Token& token = tokens[i];
    if (token.isOneOf(tok::equal, tok::l_brace, tok::r_brace, tok::comma, tok::kw_false, tok::l_paren, tok::r_paren,
                      tok::kw_unsigned, tok::kw_signed)) {
      continue;
    }
    if (token.isNot(tok::numeric_constant)) {
      if (!names_type(word(token)) || !is_cast(tokens, i)) return 0;
      continue;
    }
    if (llvm::StringRef(factory.spelling(token)).find_first_not_of("0.fFhHuUlLbB") != llvm::StringRef::npos) return 0;
  }
  return i;
}

// The declared name: the last word before array bounds and attributes.
const Token* declared_name(const TokenList& tokens, const Declaration& declaration) {
  for (std::size_t i = declaration.begin; i + 1 <= declaration.end; ++i) {
    const Token& next = tokens[i + 1];
    if (tokens[i].is(tok::identifier) && next.isOneOf(tok::l_square, tok::equal, tok::l_brace, tok::semi)) {
      return &tokens[i];
    }
  }
  return nullptr;
}

void append_zeroing(const Token& name, TokenFactory& factory, TokenList& out) {
  const SourceLocation location = name.getLocation();
  out.push_back(factory.punctuator(tok::semi, location));
  out.push_back(factory.identifier("__metalloid_zero_threadgroup", location));
  out.push_back(factory.punctuator(tok::l_paren, location));
  out.push_back(name);
  out.push_back(factory.punctuator(tok::r_paren, location));
}

void append_function_constant(const TokenList& tokens, const Declaration& declaration, TokenFactory& factory,
                              TokenList& out) {
  const SourceLocation location = tokens[declaration.begin].getLocation();
  out.push_back(factory.identifier("extern", location));
  for (std::size_t i = declaration.begin; i < declaration.end; ++i) {
    const Token& token = tokens[i];
    if (token.isOneOf(tok::kw_static, tok::kw_constexpr, tok::kw_inline, tok::kw_extern, tok::kw_const)) continue;
    if (word(token) == "function_constant") {
      out.push_back(factory.identifier("variable_function_constant", token.getLocation()));
    } else {
      out.push_back(token);
    }
  }
}

}  // namespace

void rewrite_variables(TokenList& tokens, TokenFactory& factory) {
  const std::vector<ScopeKind> scopes = find_scopes(tokens);
  TokenList out;
  out.reserve(tokens.size() + 256);
  for (std::size_t i = 0; i < tokens.size();) {
    const bool can_declare = scopes[i] != ScopeKind::other && is_statement_start(tokens, i);
    const std::size_t begin = can_declare ? skip_template_headers(tokens, i) : i;
    Declaration declaration;
    if (!can_declare || !read_declaration(tokens, begin, declaration) || declaration.is_pointer) {
      out.push_back(tokens[i]);
      ++i;
      continue;
    }
    out.insert(out.end(), tokens.begin() + i, tokens.begin() + begin);
    const SourceLocation location = tokens[begin].getLocation();
    if (scopes[i] == ScopeKind::function_scope) {
      if (!declaration.is_static && !declaration.is_extern) out.push_back(factory.identifier("static", location));
    } else if (declaration.is_function_constant) {
      append_function_constant(tokens, declaration, factory, out);
      i = declaration.end;
      if (tokens[i].isOneOf(tok::equal, tok::l_brace)) {
        factory.error(tokens[i].getLocation(), "a function constant cannot have an initializer");
        while (!tokens[i].isOneOf(tok::semi, tok::eof)) ++i;
      }
      continue;
    }
    out.insert(out.end(), tokens.begin() + begin, tokens.begin() + declaration.end);
    i = declaration.end;
    if (scopes[begin] != ScopeKind::function_scope || !declaration.is_threadgroup) continue;
    const std::size_t after_zeros = skip_zero_initialiser(tokens, declaration.end, factory);
    const Token* name = declared_name(tokens, declaration);
    if (after_zeros > declaration.end && name) {
      append_zeroing(*name, factory, out);
      i = after_zeros;
    }
  }
  tokens = std::move(out);
}

}  // namespace metalloid::frontend::tokens
