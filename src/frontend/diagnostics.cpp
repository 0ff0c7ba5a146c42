#include "frontend/diagnostics.h"

#include <clang/AST/Decl.h>
#include <clang/Basic/DiagnosticSema.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>

namespace metalloid::frontend {

Diagnostics::Diagnostics(clang::DiagnosticOptions& options)
    : printer_(std::make_unique<clang::TextDiagnosticPrinter>(stream_, options)) {}

Diagnostics::~Diagnostics() = default;

void Diagnostics::BeginSourceFile(const clang::LangOptions& language, const clang::Preprocessor* preprocessor) {
  printer_->BeginSourceFile(language, preprocessor);
}

void Diagnostics::EndSourceFile() { printer_->EndSourceFile(); }

void Diagnostics::HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) {
  if (level == clang::DiagnosticsEngine::Note && drop_notes_) return;
  drop_notes_ = false;
  if (info.getID() == clang::diag::err_explicit_instantiation_duplicate) {
    const auto* declaration = reinterpret_cast<const clang::NamedDecl*>(info.getRawArg(0));
    if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) {
      repeated_.push_back({function, info.getLocation()});
      drop_notes_ = true;
      return;
    }
  }
  if (level >= clang::DiagnosticsEngine::Error) ++errors_;
  DiagnosticConsumer::HandleDiagnostic(level, info);
  printer_->HandleDiagnostic(level, info);
}

std::string Diagnostics::text() {
  stream_.flush();
  std::string text = text_;
  // Clang prints the address spaces under the names that OpenCL has for them.
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"__global ", "device "},   {"__constant ", "constant "},   {"__local ", "threadgroup "},
      {"'__global'", "'device'"}, {"'__constant'", "'constant'"}, {"'__local'", "'threadgroup'"}};
  for (const auto& [clang_word, metal_word] : words) {
    for (std::size_t at = text.find(clang_word); at != std::string::npos; at = text.find(clang_word, at)) {
      text.replace(at, clang_word.size(), metal_word);
    }
  }
  return text;
}

}  // namespace metalloid::frontend
