// Collects Clang's diagnostics as text, in Clang's own format and Metal's words, and keeps apart the ones that MSL does
// not share. Notes about the inside of the standard library are shortened or dropped.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/SourceLocation.h>
#include <llvm/Support/raw_ostream.h>

namespace clang {
class FunctionDecl;
class TextDiagnostic;
class DiagnosticOptions;
}  // namespace clang

namespace metalloid::frontend {

class Diagnostics final : public clang::DiagnosticConsumer {
 public:
  // `why_refused`: why a file that Clang did not find was not given to it; empty if it is not there.
  Diagnostics(clang::DiagnosticOptions& options, std::function<std::string(llvm::StringRef name)> why_refused);
  ~Diagnostics() override;

  void BeginSourceFile(const clang::LangOptions& language, const clang::Preprocessor* preprocessor) override;
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override;

  unsigned error_count() const { return errors_; }
  // The log so far.
  std::string text();

  // One function instantiated explicitly twice: an error in C++, a second host_name in MSL.
  struct RepeatedInstantiation {
    const clang::FunctionDecl* function;
    clang::SourceLocation location;
  };
  const std::vector<RepeatedInstantiation>& repeated_instantiations() const { return repeated_; }
  void add_repeated_instantiation(const clang::FunctionDecl& function, clang::SourceLocation location) {
    repeated_.push_back({&function, location});
  }

 private:
  void print(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info, llvm::StringRef message);
  void print_library_note(llvm::StringRef message);
  void print_library_error_without_place();
  void explain_missing_file(const clang::Diagnostic& info);

  clang::DiagnosticOptions& options_;
  std::function<std::string(llvm::StringRef)> why_refused_;
  std::string text_;
  llvm::raw_string_ostream stream_{text_};
  std::unique_ptr<clang::TextDiagnostic> printer_;
  std::vector<RepeatedInstantiation> repeated_;
  std::set<std::string> library_notes_;    // of the diagnostic before
  std::string library_error_;              // waits for the note that says where the programmer caused it
  clang::FullSourceLoc library_include_;   // where the user's text includes the header of that error
  bool library_notes_wanted_ = true;       // after that diagnostic
  std::set<std::string> missing_headers_;  // those that a note has named
  std::set<std::pair<clang::SourceLocation, std::string>> shown_in_macros_;  // a macro may repeat an error many times
  unsigned shown_errors_ = 0;
  unsigned errors_ = 0;
  bool library_error_has_place_ = false;  // an earlier one was printed where it was caused
  bool drop_notes_ = false;               // those that belong to a diagnostic that was dropped
};

}  // namespace metalloid::frontend
