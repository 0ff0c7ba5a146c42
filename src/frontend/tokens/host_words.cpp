// Words by which Clang lets a source reach the machine below it, and which Metal does not have, are refused here:
// assembly and assembler labels, and all attributes, builtin functions and keywords that are on no list of
// allowed_words.h. These are the tokens that the parser gets, so it does not matter how a source spells or makes a
// word. The library's headers may say more.
//
// Public kernels reach Apple's copies by a simdgroup through labels; those that the library has are accepted
// (metalloid/async_copy.h). So are their annotations, but for the names that this front end gives its own.

#include <llvm/ADT/StringSet.h>

#include "frontend/files/library_places.h"
#include "frontend/tokens/allowed_words.h"
#include "frontend/tokens/rewrite.h"

namespace metalloid::frontend::tokens {

using namespace clang;

namespace {

llvm::StringRef without_underscores(llvm::StringRef name) {
  if (name.size() > 4 && name.starts_with("__") && name.ends_with("__")) name = name.drop_front(2).drop_back(2);
  return name;
}

bool is_library_label(llvm::StringRef label) {
  static const llvm::StringSet<> names = {
      "air.simdgroup_async_copy_1d.p3i8.p1i8", "air.simdgroup_async_copy_1d.p1i8.p3i8",
      "air.simdgroup_async_copy_2d.p3i8.p1i8", "air.simdgroup_async_copy_2d.p1i8.p3i8", "air.wait_simdgroup_events"};
  return names.contains(label);
}

// The text in the brackets after the `asm` at `index`.
std::string label_text(const TokenList& tokens, std::size_t index, const TokenFactory& factory) {
  std::string text;
  for (std::size_t i = index + 2; i < tokens.size() && tokens[i].is(tok::string_literal); ++i) {
    const std::string part = factory.spelling(tokens[i]);
    text += part.size() < 2 ? part : part.substr(1, part.size() - 2);
  }
  return text;
}

class HostWords {
 public:
  HostWords(const TokenList& tokens, TokenFactory& factory)
      : tokens_(tokens), factory_(factory), sources_(factory.preprocessor().getSourceManager()) {}

  void reject() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.isAnnotation() || token.isLiteral()) continue;
      const IdentifierInfo* name = token.getIdentifierInfo();
      const bool is_list = is_attribute_start(tokens_, i);
      // Places of tokens are looked up last, which takes longer than all else.
      if (!is_list && (!name || is_harmless(token, *name))) continue;
      if (is_written_in_library(sources_, token.getLocation())) continue;
      if (is_list) {
        reject_attributes(i + 2, skip_attribute(tokens_, i), AttributeCommonInfo::AS_CXX11);
      } else if (token.is(tok::kw_asm)) {
        reject_assembly(i);
      } else if (token.is(tok::kw___attribute)) {
        // The names stand in a second bracket.
        if (is_at(i + 1, tok::l_paren) && is_at(i + 2, tok::l_paren)) {
          reject_attributes(i + 3, skip_balanced(tokens_, i + 2), AttributeCommonInfo::AS_GNU);
        }
      } else if (token.is(tok::kw___declspec)) {
        if (is_at(i + 1, tok::l_paren)) {
          reject_attributes(i + 2, skip_balanced(tokens_, i + 1), AttributeCommonInfo::AS_Declspec);
        }
      } else if (token.is(tok::kw_thread_local) || !is_allowed_keyword(token.getKind())) {
        factory_.error(token.getLocation(), "'%0' is not supported in Metal") << word(token);
      } else if (name->getBuiltinID() != 0 && !is_allowed_builtin(name->getName())) {
        // Names of the C library are builtins too, and may be the user's.
        if (name->getName().starts_with("__")) {
          factory_.error(token.getLocation(), "'%0' is not available in Metal") << name->getName();
        }
      }
    }
  }

 private:
  static bool is_harmless(const Token& token, const IdentifierInfo& name) {
    return !token.isOneOf(tok::kw_asm, tok::kw___attribute, tok::kw___declspec, tok::kw_thread_local) &&
           is_allowed_keyword(token.getKind()) && name.getBuiltinID() == 0;
  }

  bool is_at(std::size_t index, tok::TokenKind kind) const { return index < tokens_.size() && tokens_[index].is(kind); }

  // The names at [begin, end), as in `using gnu: noinline, aligned(4)` or `clang::noinline, nodiscard`.
  void reject_attributes(std::size_t begin, std::size_t end, AttributeCommonInfo::Syntax syntax) {
    const IdentifierInfo* list_scope = nullptr;
    if (begin + 2 < end && tokens_[begin].is(tok::kw_using)) {
      list_scope = tokens_[begin + 1].getIdentifierInfo();
      begin += 3;
    }
    for (std::size_t i = begin; i < end && i < tokens_.size(); ++i) {
      const IdentifierInfo* scope = list_scope;
      if (i + 2 < end && tokens_[i + 1].is(tok::coloncolon)) {
        scope = tokens_[i].getIdentifierInfo();
        i += 2;
      }
      const Token& token = tokens_[i];
      const IdentifierInfo* name = token.isAnnotation() || token.isLiteral() ? nullptr : token.getIdentifierInfo();
      const bool has_arguments = is_at(i + 1, tok::l_paren);
      if (name && !is_written_in_library(sources_, token.getLocation())) {
        const auto kind = AttributeCommonInfo::getParsedKind(name, scope, syntax);
        const bool allowed = kind == AttributeCommonInfo::AT_Annotate ? has_arguments && is_foreign_annotation(i + 2)
                                                                      : is_allowed_attribute(kind);
        if (!allowed) {
          factory_.error(token.getLocation(), "'%0' attribute is not supported in Metal")
              << without_underscores(name->getName());
        }
      }
      if (has_arguments) i = skip_balanced(tokens_, i + 1) - 1;
    }
  }

  // Whether the first argument, at `index`, is plainly no name of this front end's.
  bool is_foreign_annotation(std::size_t index) const {
    if (!is_at(index, tok::string_literal) || is_at(index + 1, tok::string_literal)) return false;
    const std::string text = factory_.spelling(tokens_[index]);
    return text[0] == '"' && text.find('\\') == std::string::npos && !text.starts_with("\"metalloid.");
  }

  void reject_assembly(std::size_t index) {
    const SourceLocation place = tokens_[index].getLocation();
    if (!is_label(index)) {
      factory_.error(place, "inline assembly is not supported in Metal");
      return;
    }
    const std::string text = label_text(tokens_, index, factory_);
    if (is_library_label(text)) return;
    if (text.starts_with("air.")) {
      factory_.error(place, "function '%0' is not supported by Metalloid") << text;
    } else {
      factory_.error(place, "assembler labels are not supported in Metal: '%0'") << text;
    }
  }

  // Labels follow a declarator; statements and definitions follow the end of another, or a condition.
  bool is_label(std::size_t index) const {
    if (index == 0 || index + 1 >= tokens_.size() || tokens_[index + 1].isNot(tok::l_paren)) return false;
    const Token& before = tokens_[index - 1];
    if (before.isOneOf(tok::identifier, tok::r_square, tok::kw_const, tok::kw_noexcept)) return true;
    if (before.isNot(tok::r_paren)) return false;
    std::size_t open = index - 1;
    for (int depth = 0; open > 0; --open) {
      if (tokens_[open].is(tok::r_paren)) ++depth;
      if (tokens_[open].is(tok::l_paren) && --depth == 0) break;
    }
    return open == 0 || !tokens_[open - 1].isOneOf(tok::kw_if, tok::kw_while, tok::kw_for, tok::kw_switch);
  }

  const TokenList& tokens_;
  TokenFactory& factory_;
  const SourceManager& sources_;
};

}  // namespace

bool names_library_label(const TokenList& tokens, Preprocessor& preprocessor) {
  const TokenFactory factory(preprocessor);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].is(tok::kw_asm) && is_library_label(label_text(tokens, i, factory)) &&
        !is_written_in_library(preprocessor.getSourceManager(), tokens[i].getLocation())) {
      return true;
    }
  }
  return false;
}

void reject_words_of_hosts(const TokenList& tokens, TokenFactory& factory) { HostWords(tokens, factory).reject(); }

}  // namespace metalloid::frontend::tokens
