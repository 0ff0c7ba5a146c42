#include "frontend/tokens/declarations.h"

#include <utility>

#include "frontend/tokens/scopes.h"

namespace metalloid::frontend::tokens {
namespace {

using namespace clang;

// The name in `("a" "b")`, whose parenthesis is at `open`; empty if it is not made of plain texts alone.
std::string plain_name(const TokenList& tokens, std::size_t open, const TokenFactory& factory) {
  if (open >= tokens.size() || tokens[open].isNot(tok::l_paren)) return {};
  const std::size_t close = skip_balanced(tokens, open) - 1;
  std::string name;
  for (std::size_t i = open + 1; i < close; ++i) {
    if (tokens[i].isNot(tok::string_literal) || tokens[i].hasUDSuffix()) return {};
    const std::string text = factory.spelling(tokens[i]);
    if (text.size() < 2 || text.front() != '"' || text.find('\\') != std::string::npos) return {};
    name += text.substr(1, text.size() - 2);
  }
  return name;
}

// Reads one declaration, token by token.
class DeclarationReader {
 public:
  DeclarationReader(const TokenList& tokens, std::size_t begin, const TokenFactory& factory)
      : tokens_(tokens), factory_(factory) {
    declaration_.begin = begin;
  }

  std::optional<ScopeDeclaration> read() {
    std::size_t i = skip_template_headers(tokens_, declaration_.begin);
    specialises_ = i == declaration_.begin + 3;  // template < >
    instantiates_ = i == declaration_.begin && tokens_[i].is(tok::kw_template);
    is_alias_ = tokens_[i].is(tok::kw_using) && i + 2 < tokens_.size() && tokens_[i + 2].is(tok::equal);
    is_typedef_ = tokens_[i].is(tok::kw_typedef);
    declaration_.is_check = tokens_[i].isOneOf(tok::kw_static_assert, tok::kw__Static_assert);
    is_plain_ = is_alias_ || tokens_[i].isNoneOf(tok::kw_using, tok::kw_asm);
    is_template_ = i != declaration_.begin && !specialises_;
    if (instantiates_) ++i;
    while (true) {
      if (i >= tokens_.size() || tokens_[i].isOneOf(tok::r_brace, tok::r_paren, tok::r_square, tok::eof)) return {};
      if (tokens_[i].is(tok::semi)) return finish(i + 1, false);
      const std::size_t next = step(i);
      if (is_body_) return finish(next, true);
      i = next;
    }
  }

 private:
  ScopeDeclaration finish(std::size_t end, bool is_definition) {
    declaration_.end = end;
    declaration_.is_instantiation = instantiates_ && says_kernel_;
    declaration_.is_kernel = declaration_.is_instantiation || (says_kernel_ && is_definition && !is_template_);
    if (is_plain_ && !instantiates_) find_names(tokens_[end - 2]);
    return declaration_;
  }

  // `last`: the token in front of the end.
  void find_names(const Token& last) {
    auto& names = declaration_.names;
    if (is_alias_) {
      names = {last_};
    } else if (is_typedef_) {
      if (!function_ && last_) names = {last_};
      if (!names.empty() && class_name_) names.push_back(class_name_);
    } else if (function_) {
      names = {function_};
    } else if (variable_) {
      if (!has_attribute_ && !has_class_body_) names = {variable_};  // hosts may know it
    } else if (class_name_) {
      const bool is_alone =
          last.is(tok::r_brace) || (last.isAnyIdentifier() && last.getIdentifierInfo() == class_name_);
      if (is_alone) names = {class_name_};
    }
  }

  // Index behind what begins at `i`.
  std::size_t step(std::size_t i) {
    const Token& token = tokens_[i];
    const bool follows_name = std::exchange(follows_name_, false);
    if (is_attribute_start(tokens_, i)) return read_attribute(i);
    if (token.isOneOf(tok::kw_alignas, tok::kw___attribute, tok::kw_decltype, tok::kw___declspec, tok::kw_asm,
                      tok::kw_noexcept) &&
        i + 1 < tokens_.size() && tokens_[i + 1].is(tok::l_paren)) {
      return skip_balanced(tokens_, i + 1);
    }
    if (token.is(tok::kw_operator)) {
      is_plain_ = false;
      const bool is_call = i + 2 < tokens_.size() && tokens_[i + 1].is(tok::l_paren) && tokens_[i + 2].is(tok::r_paren);
      while (i + 1 < tokens_.size() && tokens_[i + 1].isNoneOf(tok::l_paren, tok::semi, tok::l_brace)) ++i;
      operator_ = true;
      return is_call ? i + 3 : i + 1;
    }
    if (token.isOneOf(tok::kw_struct, tok::kw_class, tok::kw_union) && !class_key_ && !function_) {
      class_key_ = true;
      return i + 1;
    }
    if (token.is(tok::kw_enum)) is_plain_ = false;
    if (token.is(tok::equal)) {
      if (!function_ && !is_alias_) variable_ = last_;
      saw_equal_ = true;
    }
    if (token.is(tok::comma) && !in_class_head() && !is_alias_) is_plain_ = false;  // one more declarator
    if (token.is(tok::colon)) saw_colon_ = true;
    if (token.is(tok::less) && !saw_equal_) {
      const std::size_t after = skip_template_arguments(tokens_, i);
      follows_name_ = follows_name;
      return after == i ? i + 1 : after;
    }
    if (token.is(tok::l_paren)) {
      if (!function_ && !saw_equal_ && !in_class_head()) {
        if (follows_name) {
          function_ = last_;
        } else {
          is_plain_ = false;
        }
      } else if (function_ && !saw_equal_) {
        is_plain_ = false;  // `T (*pointer)(int)`
      }
      return skip_balanced(tokens_, i);
    }
    if (token.is(tok::l_square)) {
      follows_name_ = follows_name;
      return skip_balanced(tokens_, i);
    }
    if (token.is(tok::l_brace)) return read_braces(i);
    if (const IdentifierInfo* identifier = token.isAnyIdentifier() ? token.getIdentifierInfo() : nullptr) {
      if (identifier->isStr("kernel")) says_kernel_ = true;
      if (class_key_ && !saw_colon_ && !has_class_body_) {
        if (!class_name_) class_name_ = identifier;
        if (tokens_[i - 1].is(tok::coloncolon)) is_plain_ = false;
      }
      if (!saw_equal_) last_ = identifier;
      follows_name_ = true;
    }
    return i + 1;
  }

  // The bases of a class are no initialisers.
  bool in_class_head() const { return class_key_ && saw_colon_ && !function_; }

  std::size_t read_braces(std::size_t i) {
    const std::size_t after = skip_balanced(tokens_, i);
    if ((!function_ && !operator_) || saw_equal_) {
      has_class_body_ |= class_key_;
      return after;
    }
    // `: member{1}` of a constructor
    const Token& before = tokens_[i - 1];
    if (saw_colon_ && (before.isAnyIdentifier() || before.is(tok::greater))) return after;
    is_body_ = true;
    return after;
  }

  std::size_t read_attribute(std::size_t i) {
    const std::size_t end = skip_attribute(tokens_, i);
    has_attribute_ = true;
    if (function_) return end;
    for (i += 2; i + 2 < end;) {
      const llvm::StringRef attribute = word(tokens_[i]);
      if (attribute == "host_name") declaration_.host_name = plain_name(tokens_, i + 1, factory_);
      says_kernel_ |= attribute == "kernel";
      ++i;
      if (tokens_[i].is(tok::l_paren)) i = skip_balanced(tokens_, i);
    }
    return end;
  }

  const TokenList& tokens_;
  const TokenFactory& factory_;
  ScopeDeclaration declaration_;
  const IdentifierInfo* last_ = nullptr;
  const IdentifierInfo* function_ = nullptr;
  const IdentifierInfo* variable_ = nullptr;
  const IdentifierInfo* class_name_ = nullptr;
  bool specialises_ = false, instantiates_ = false, is_template_ = false, is_alias_ = false, is_typedef_ = false;
  bool is_plain_ = true, says_kernel_ = false, has_attribute_ = false;
  bool class_key_ = false, has_class_body_ = false, operator_ = false, saw_equal_ = false, saw_colon_ = false;
  bool follows_name_ = false, is_body_ = false;
};

// Index behind the `{` of a namespace or of `extern "C" {` that begins at `i`, else `i`.
std::size_t enter_scope(const TokenList& tokens, std::size_t i) {
  std::size_t brace = i;
  if (tokens[brace].is(tok::kw_inline)) ++brace;
  if (brace < tokens.size() && tokens[brace].is(tok::kw_namespace)) {
    ++brace;
    while (brace < tokens.size() &&
           (tokens[brace].isAnyIdentifier() || tokens[brace].isOneOf(tok::coloncolon, tok::kw_inline))) {
      ++brace;
    }
  } else if (tokens[i].is(tok::kw_extern) && i + 1 < tokens.size() && tokens[i + 1].is(tok::string_literal)) {
    brace = i + 2;
  } else {
    return i;
  }
  return brace < tokens.size() && tokens[brace].is(tok::l_brace) ? brace + 1 : i;
}

}  // namespace

std::optional<std::vector<ScopeDeclaration>> find_declarations(const TokenList& tokens, const TokenFactory& factory) {
  std::vector<ScopeDeclaration> found;
  int depth = 0;
  for (std::size_t i = 0; i < tokens.size() && tokens[i].isNot(tok::eof);) {
    if (tokens[i].isAnnotation() || tokens[i].is(tok::semi)) {
      ++i;
    } else if (tokens[i].is(tok::r_brace)) {
      if (--depth < 0) return {};
      ++i;
    } else if (const std::size_t inside = enter_scope(tokens, i); inside != i) {
      ++depth;
      i = inside;
    } else {
      std::optional<ScopeDeclaration> declaration = DeclarationReader(tokens, i, factory).read();
      if (!declaration) return {};
      i = declaration->end;
      found.push_back(std::move(*declaration));
    }
  }
  if (depth != 0) return {};
  return found;
}

}  // namespace metalloid::frontend::tokens
