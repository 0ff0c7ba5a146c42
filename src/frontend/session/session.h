// One run of Clang over one MSL source: options in, parsed declarations and diagnostics out.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <clang/AST/ASTConsumer.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/PreprocessorOutputOptions.h>

#include "frontend/files/source_files.h"
#include "frontend/session/diagnostics.h"
#include "frontend/tokens/rewrite.h"
#include "metalloid/library.h"

namespace metalloid::frontend {

// Keeps what the parser hands over, so that code is generated only after the whole source was looked at.
class DeclarationRecorder final : public clang::ASTConsumer {
 public:
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override;
  void HandleInterestingDecl(clang::DeclGroupRef group) override;
  void HandleInlineFunctionDefinition(clang::FunctionDecl* function) override;
  void HandleTagDeclDefinition(clang::TagDecl* tag) override;
  void HandleTagDeclRequiredDefinition(const clang::TagDecl* tag) override;
  void HandleCXXStaticMemberVarInstantiation(clang::VarDecl* variable) override;
  void CompleteTentativeDefinition(clang::VarDecl* variable) override;

  std::size_t size() const { return events_.size(); }
  // `left_out`: functions that the consumer shall not see.
  void replay(clang::ASTConsumer& consumer, const std::set<const clang::Decl*>& left_out) const;

 private:
  using LeftOut = std::set<const clang::Decl*>;
  std::deque<std::function<void(clang::ASTConsumer&, const LeftOut&)>> events_;  // replay() may add to them
};

class Session {
 public:
  // `prelude`: the standard library as a precompiled header (prelude.h), which must outlive the session; if it is empty
  // the library's text is parsed.
  // `with_async_copy`: includes metalloid/async_copy.h, for a source for which the session before says that it needs
  // it.
  Session(std::string_view source, const CompileOptions& options, std::string_view prelude = {},
          bool with_async_copy = false);
  ~Session();

  // Parses the standard library alone and returns it as a precompiled header.
  // Throws Error(internal) with the log if the library itself does not compile.
  static std::string precompile_prelude(const CompileOptions& options);

  // Runs preprocessor, token rewriting and parser. False if there were errors, or if lacks_async_copy().
  bool parse(tokens::Reading reading = {});
  // Instead of parse(): prints what comes out of the preprocessor. False if there were errors.
  bool print_preprocessed(const clang::PreprocessorOutputOptions& options, llvm::raw_ostream& to);
  // Not the whole source was read.
  bool left_something_out() const { return left_something_out_; }
  // Instantiations of which only the names were read.
  const std::vector<tokens::NamedKernel>& named_kernels() const { return named_kernels_; }
  // The source declares functions by labels that only metalloid/async_copy.h defines.
  bool lacks_async_copy() const { return lacks_async_copy_; }

  clang::CompilerInstance& compiler() { return *compiler_; }
  clang::ASTContext& context() { return compiler_->getASTContext(); }
  const DeclarationRecorder& declarations() const { return *recorder_; }
  Diagnostics& diagnostics() { return *diagnostics_; }
  // Further names of explicit instantiations that were written more than once.
  std::vector<std::pair<const clang::FunctionDecl*, std::string>> extra_host_names() const;
  const SourceFiles& files() const { return *files_; }
  // True if the type with a `*` or `&` at this place says `thread` before it.
  bool names_thread(clang::SourceLocation declarator) const { return thread_declarators_.count(declarator) != 0; }

 private:
  struct PreludeOnly {};
  Session(PreludeOnly, const CompileOptions& options);
  void create_compiler(const CompileOptions& options);
  void create_parser_state(clang::TranslationUnitKind kind, std::unique_ptr<clang::ASTConsumer> consumer);

  std::string source_;
  std::string_view prelude_;
  std::unique_ptr<Diagnostics> diagnostics_;  // outlives the compiler, which writes into it
  llvm::IntrusiveRefCntPtr<SourceFiles> files_;
  std::unique_ptr<clang::CompilerInstance> compiler_;
  DeclarationRecorder* recorder_ = nullptr;  // owned by compiler_
  tokens::HostNames instantiation_host_names_;
  std::vector<tokens::NamedKernel> named_kernels_;
  std::set<clang::SourceLocation> thread_declarators_;
  bool lacks_async_copy_ = false;
  bool left_something_out_ = false;
};

}  // namespace metalloid::frontend
