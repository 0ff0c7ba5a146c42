// Members that are written once per address space with otherwise the same tokens, as in
//
//   complex_t(float r) thread : real(r) {}
//   complex_t(float r) threadgroup : real(r) {}
//
// become one member without a qualifier, which Clang's generic `this` serves for all spaces. So do members that return
// a reference into their own space, `device T& operator[](size_t i) device`: as overloads they would be ambiguous,
// because Clang offers members of every space to an object in thread space. Such a member is annotated, and the result
// of a call takes the space of the object again (sema_wraps.cpp). Members that differ elsewhere stay overloads.

#include <map>
#include <set>

#include "frontend/tokens/rewrite.h"
#include "frontend/tokens/scopes.h"

namespace metalloid::frontend::tokens {

using namespace clang;

namespace {

struct Member {
  std::size_t begin = 0;
  std::size_t end = 0;                  // after its `;` or `}`
  std::set<std::size_t> qualifiers;     // indices of address-space tokens after the parameter list
  std::set<std::size_t> return_spaces;  // and before it
};

// Reads one member function or constructor at `begin`; end == begin if it is something else.
Member read_member(const TokenList& tokens, std::size_t begin) {
  Member member{begin, begin, {}, {}};
  std::size_t i = skip_template_headers(tokens, begin);
  bool after_parameters = false;
  for (; i < tokens.size();) {
    const Token& token = tokens[i];
    if (token.isOneOf(tok::eof, tok::r_brace, tok::kw_struct, tok::kw_class, tok::kw_union, tok::kw_enum, tok::kw_using,
                      tok::kw_typedef)) {
      return member;
    }
    if (token.is(tok::semi)) {
      if (after_parameters) member.end = i + 1;
      return member;
    }
    if (token.is(tok::equal) && !after_parameters) return member;  // a data member
    if (token.is(tok::kw_operator) && i + 2 < tokens.size() && tokens[i + 1].is(tok::l_paren) &&
        tokens[i + 2].is(tok::r_paren)) {
      i += 3;
      continue;
    }
    if (token.is(tok::kw_operator)) {
      i += tokens[i + 1].is(tok::l_square) ? 3 : 2;
      continue;
    }
    if (token.isOneOf(tok::kw_decltype, tok::kw_alignas, tok::kw___attribute, tok::kw___declspec) &&
        i + 1 < tokens.size() && tokens[i + 1].is(tok::l_paren)) {
      i = skip_balanced(tokens, i + 1);
      continue;
    }
    if (is_attribute_start(tokens, i)) {
      i = skip_attribute(tokens, i);
      continue;
    }
    if (token.is(tok::less) && !after_parameters) {
      const std::size_t after = skip_template_arguments(tokens, i);
      i = after == i ? i + 1 : after;
      continue;
    }
    if (token.is(tok::l_paren)) {
      i = skip_balanced(tokens, i);
      after_parameters = true;
      continue;
    }
    if (token.is(tok::colon) && after_parameters) {  // constructor initialisers: name(...) or name{...}, ...
      ++i;
      while (i < tokens.size() && !tokens[i].isOneOf(tok::semi, tok::eof)) {
        if (tokens[i].is(tok::l_brace) && !(tokens[i - 1].isOneOf(tok::identifier, tok::greater))) break;
        i = tokens[i].isOneOf(tok::l_paren, tok::l_brace) ? skip_balanced(tokens, i) : i + 1;
      }
      continue;
    }
    if (token.is(tok::l_brace)) {
      if (!after_parameters) return member;
      member.end = skip_balanced(tokens, i);
      return member;
    }
    if (is_address_space(token)) (after_parameters ? member.qualifiers : member.return_spaces).insert(i);
    ++i;
  }
  return member;
}

// Drops the space of a return type from the member's differences if it is the member's own.
void accept_own_space_in_return_type(const TokenList& tokens, Member& member) {
  if (member.qualifiers.size() == 1) {
    for (const std::size_t i : member.return_spaces) {
      if (tokens[i].getKind() != tokens[*member.qualifiers.begin()].getKind()) return;
    }
    member.qualifiers.insert(member.return_spaces.begin(), member.return_spaces.end());
  }
}

std::string key_of(const TokenList& tokens, const Member& member, TokenFactory& factory) {
  std::string key;
  for (std::size_t i = member.begin; i < member.end; ++i) {
    if (member.qualifiers.count(i)) continue;
    key += factory.spelling(tokens[i]);
    key += ' ';
  }
  return key;
}

}  // namespace

void merge_address_space_members(TokenList& tokens, TokenFactory& factory) {
  bool has_spaces = false;
  for (const Token& token : tokens) has_spaces |= is_address_space(token);
  if (!has_spaces) return;

  const std::vector<ScopeKind> scopes = find_scopes(tokens);
  std::vector<bool> dropped(tokens.size(), false);
  std::set<std::size_t> in_own_space;  // where members begin that return a reference into their own space
  // Per open class: the members seen so far, by key.
  std::vector<std::map<std::string, Member>> classes;
  std::vector<bool> brace_is_class;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is(tok::l_brace)) {
      const bool opens_class = i + 1 < tokens.size() && scopes[i + 1] == ScopeKind::class_scope;
      brace_is_class.push_back(opens_class);
      if (opens_class) classes.emplace_back();
    } else if (tokens[i].is(tok::r_brace) && !brace_is_class.empty()) {
      if (brace_is_class.back()) classes.pop_back();
      brace_is_class.pop_back();
    }
    if (scopes[i] != ScopeKind::class_scope || classes.empty() || !is_statement_start(tokens, i)) continue;
    Member member = read_member(tokens, i);
    if (member.end == member.begin) continue;
    accept_own_space_in_return_type(tokens, member);
    const auto [found, is_new] = classes.back().emplace(key_of(tokens, member, factory), member);
    if (is_new) continue;
    for (std::size_t k = member.begin; k < member.end; ++k) dropped[k] = true;
    for (const std::size_t qualifier : found->second.qualifiers) dropped[qualifier] = true;
    if (!member.return_spaces.empty()) in_own_space.insert(skip_template_headers(tokens, found->second.begin));
  }

  TokenList out;
  out.reserve(tokens.size());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (in_own_space.count(i)) factory.append_annotation(out, own_space_annotation, {}, tokens[i].getLocation());
    if (!dropped[i]) out.push_back(tokens[i]);
  }
  tokens = std::move(out);
}

}  // namespace metalloid::frontend::tokens
