#include "frontend/session/pragmas.h"

#include <clang/Lex/Pragma.h>
#include <clang/Lex/Preprocessor.h>

namespace metalloid::frontend {
namespace {

// Hands `_Pragma("text")` to the preprocessor, which runs the handler that Clang has for it.
void enter_pragma(clang::Preprocessor& preprocessor, clang::SourceLocation location, llvm::StringRef text) {
  auto tokens = std::make_unique<clang::Token[]>(4);
  for (int i = 0; i < 4; ++i) {
    tokens[i].startToken();
    tokens[i].setLocation(location);
  }
  tokens[0].setKind(clang::tok::identifier);
  tokens[0].setIdentifierInfo(preprocessor.getIdentifierInfo("_Pragma"));
  tokens[0].setLength(7);
  tokens[1].setKind(clang::tok::l_paren);
  tokens[1].setLength(1);
  preprocessor.CreateString(("\"" + text + "\"").str(), tokens[2], location, location);
  tokens[2].setKind(clang::tok::string_literal);
  tokens[3].setKind(clang::tok::r_paren);
  tokens[3].setLength(1);
  preprocessor.EnterTokenStream(std::move(tokens), 4, /*DisableMacroExpansion=*/false, /*IsReinject=*/false);
}

class MetalPragma final : public clang::PragmaHandler {
 public:
  MetalPragma() : PragmaHandler("METAL") {}

  void HandlePragma(clang::Preprocessor& preprocessor, clang::PragmaIntroducer introducer,
                    clang::Token& first) override {
    // The words of the line: "fp math_mode ( safe )".
    std::vector<std::string> words;
    clang::Token token;
    for (preprocessor.LexUnexpandedToken(token); token.isNot(clang::tok::eod); preprocessor.LexUnexpandedToken(token)) {
      words.push_back(preprocessor.getSpelling(token));
    }
    if (words.size() < 5 || words[0] != "fp") return;
    const auto location = first.getLocation();
    if (words[1] == "math_mode") {
      enter_pragma(preprocessor, location,
                   words[3] == "safe" ? "float_control(precise, on)" : "float_control(precise, off)");
    } else if (words[1] == "contract") {
      enter_pragma(preprocessor, location, "clang fp contract(" + words[3] + ")");
    }
  }
};

class RefusedPragma final : public clang::PragmaHandler {
 public:
  RefusedPragma(llvm::StringRef space, llvm::StringRef name)
      : PragmaHandler(name), text_(space.empty() ? name.str() : (space + " " + name).str()) {}

  void HandlePragma(clang::Preprocessor& preprocessor, clang::PragmaIntroducer, clang::Token& first) override {
    auto& diagnostics = preprocessor.getDiagnostics();
    diagnostics.Report(first.getLocation(), diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Error,
                                                                        "'#pragma %0' is not supported in Metal"))
        << text_;
  }

 private:
  std::string text_;
};

// In the place of one of the parser's, which goes on owning its own and in the end takes out, without freeing it,
// whatever has the name: so these are nobody's.
void refuse_parsers(clang::Preprocessor& preprocessor, llvm::StringRef space, RefusedPragma& handler) {
  preprocessor.RemovePragmaHandler(space, &handler);
  preprocessor.AddPragmaHandler(space, &handler);
}

}  // namespace

void refuse_pragmas_of_hosts(clang::Preprocessor& preprocessor) {
  // The preprocessor owns these and frees what had the name.
  for (const char* name : {"system_header", "dependency", "poison"}) {
    for (const char* space : {"GCC", "clang"}) {
      preprocessor.AddPragmaHandler(space, new clang::EmptyPragmaHandler(name));
    }
  }
  preprocessor.AddPragmaHandler("clang", new RefusedPragma("clang", "module"));

  static RefusedPragma& section = *new RefusedPragma("clang", "section");
  static RefusedPragma& attribute = *new RefusedPragma("clang", "attribute");
  static RefusedPragma& redefine_extname = *new RefusedPragma("", "redefine_extname");
  static RefusedPragma& weak = *new RefusedPragma("", "weak");
  for (RefusedPragma* handler : {&section, &attribute}) refuse_parsers(preprocessor, "clang", *handler);
  for (RefusedPragma* handler : {&redefine_extname, &weak}) refuse_parsers(preprocessor, "", *handler);
}

void add_metal_pragmas(clang::Preprocessor& preprocessor) {
  preprocessor.AddPragmaHandler(new MetalPragma);  // owned by the preprocessor
  // In place of Clang's own, which crashes, overflows the stack and prints on request.
  preprocessor.AddPragmaHandler("clang", new clang::EmptyPragmaHandler("__debug"));
}

}  // namespace metalloid::frontend
