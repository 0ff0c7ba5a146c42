// The whole source as a list of preprocessed tokens, and a factory for tokens that were not in the text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/Token.h>

namespace metalloid::frontend::tokens {

using TokenList = std::vector<clang::Token>;

// The word a token was spelled with if it is an identifier or keyword, else empty. `device`, `constant` and
// `threadgroup` keep their Metal spelling until address-space tokens are settled at the end of the rewriting.
inline llvm::StringRef word(const clang::Token& token) {
  if (token.isAnnotation() || token.isLiteral()) return {};
  const clang::IdentifierInfo* identifier = token.getIdentifierInfo();
  return identifier ? identifier->getName() : llvm::StringRef();
}

inline bool is_address_space(const clang::Token& token) {
  return token.isOneOf(clang::tok::kw___global, clang::tok::kw___local, clang::tok::kw___constant);
}

inline bool is_threadgroup(const clang::Token& token) { return token.is(clang::tok::kw___local); }
inline bool is_constant(const clang::Token& token) { return token.is(clang::tok::kw___constant); }

// Index after the bracket that closes the one at `open` ( ( [ { ), or the end of the list.
std::size_t skip_balanced(const TokenList& tokens, std::size_t open);
// Index after the `>` that closes the template argument list at `open` (a `<`), or `open` if it is none.
std::size_t skip_template_arguments(const TokenList& tokens, std::size_t open);
// True at the `[[` of an attribute list.
bool is_attribute_start(const TokenList& tokens, std::size_t index);
// Index after the `]]`.
std::size_t skip_attribute(const TokenList& tokens, std::size_t index);

class TokenFactory {
 public:
  explicit TokenFactory(clang::Preprocessor& preprocessor) : preprocessor_(preprocessor) {}

  clang::Preprocessor& preprocessor() { return preprocessor_; }
  clang::Token identifier(std::string_view text, clang::SourceLocation location);  // keywords get their kind
  clang::Token punctuator(clang::tok::TokenKind kind, clang::SourceLocation location);
  clang::Token string(std::string_view text, clang::SourceLocation location);
  clang::Token number(std::string_view text, clang::SourceLocation location);
  template <unsigned N>
  clang::DiagnosticBuilder error(clang::SourceLocation location, const char (&text)[N]) {
    auto& diagnostics = preprocessor_.getDiagnostics();
    return diagnostics.Report(location, diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Error, text));
  }
  // Appends: __attribute__((annotate("name" <arguments with leading commas>)))
  void append_annotation(TokenList& out, std::string_view name, const TokenList& arguments,
                         clang::SourceLocation location);
  // Of the token, not of the text at its location: the two differ for words that were put in.
  // Pragmas that became annotation tokens have the spelling of their kind.
  std::string spelling(const clang::Token& token) const {
    if (token.isAnnotation()) return token.getName();
    const llvm::StringRef text = word(token);
    return text.empty() ? preprocessor_.getSpelling(token) : text.str();
  }

 private:
  clang::Preprocessor& preprocessor_;
};

}  // namespace metalloid::frontend::tokens
