#include "frontend/tokens/token_list.h"

namespace metalloid::frontend::tokens {

using namespace clang;

std::size_t skip_balanced(const TokenList& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i].isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) ++depth;
    if (tokens[i].isOneOf(tok::r_paren, tok::r_square, tok::r_brace) && --depth == 0) return i + 1;
  }
  return tokens.size();
}

std::size_t skip_template_arguments(const TokenList& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size();) {
    const Token& token = tokens[i];
    if (token.isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) {
      i = skip_balanced(tokens, i);
      continue;
    }
    if (token.is(tok::less)) ++depth;
    if (token.is(tok::greater)) depth -= 1;
    if (token.is(tok::greatergreater)) depth -= 2;
    if (token.isOneOf(tok::semi, tok::eof, tok::r_brace, tok::r_paren)) return open;  // it was a comparison
    ++i;
    if (depth <= 0) return i;
  }
  return open;
}

bool is_attribute_start(const TokenList& tokens, std::size_t index) {
  return index + 1 < tokens.size() && tokens[index].is(tok::l_square) && tokens[index + 1].is(tok::l_square);
}

std::size_t skip_attribute(const TokenList& tokens, std::size_t index) { return skip_balanced(tokens, index); }

Token TokenFactory::identifier(std::string_view text, SourceLocation location) {
  Token token;
  token.startToken();
  IdentifierInfo* info = preprocessor_.getIdentifierInfo(text);
  token.setIdentifierInfo(info);
  token.setKind(info->getTokenID());
  token.setLocation(location);
  token.setLength(text.size());
  return token;
}

Token TokenFactory::punctuator(tok::TokenKind kind, SourceLocation location) {
  Token token;
  token.startToken();
  token.setKind(kind);
  token.setLocation(location);
  token.setLength(1);
  return token;
}

Token TokenFactory::string(std::string_view text, SourceLocation location) {
  std::string quoted = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') quoted += '\\';
    quoted += character;
  }
  quoted += '"';
  Token token;
  token.startToken();
  token.setKind(tok::string_literal);
  preprocessor_.CreateString(quoted, token, location, location);
  return token;
}

Token TokenFactory::number(std::string_view text, SourceLocation location) {
  Token token;
  token.startToken();
  token.setKind(tok::numeric_constant);
  preprocessor_.CreateString(text, token, location, location);
  return token;
}

void TokenFactory::append_annotation(TokenList& out, std::string_view name, const TokenList& arguments,
                                     SourceLocation location) {
  out.push_back(identifier("__attribute__", location));
  out.push_back(punctuator(tok::l_paren, location));
  out.push_back(punctuator(tok::l_paren, location));
  out.push_back(identifier("annotate", location));
  out.push_back(punctuator(tok::l_paren, location));
  out.push_back(string("metalloid." + std::string(name), location));
  out.insert(out.end(), arguments.begin(), arguments.end());
  for (int i = 0; i < 3; ++i) out.push_back(punctuator(tok::r_paren, location));
}

}  // namespace metalloid::frontend::tokens
