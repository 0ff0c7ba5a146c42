#include "frontend/session/session.h"

#include <clang/Basic/DiagnosticLex.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Parse/Parser.h>
#include <clang/Sema/Sema.h>
#include <clang/Serialization/ASTReader.h>
#include <clang/Serialization/ASTWriter.h>

#include "frontend/session/effort_limit.h"
#include "frontend/session/options.h"
#include "frontend/session/pragmas.h"
#include "frontend/session/target.h"
#include "frontend/tokens/rewrite.h"
#include "frontend/tokens/user_macros.h"

namespace metalloid::frontend {
namespace {

// `device`, `constant` and `threadgroup` lex as the OpenCL keywords behind them (no macros, so diagnostics and
// stringification see the user's words); OpenCL's own words become identifiers again.
void set_keywords(clang::IdentifierTable& identifiers) {
  using namespace clang;
  for (const char* word :
       {"global", "local", "generic", "read_only", "write_only", "read_write", "__read_only", "__write_only",
        "__read_write", "__kernel", "kernel", "pipe", "vec_step", "addrspace_cast", "__generic", "__private"}) {
    identifiers.get(word, tok::identifier);
  }
#define GENERIC_IMAGE_TYPE(ImgType, Id) identifiers.get(#ImgType "_t", tok::identifier);
#include <clang/Basic/OpenCLImageTypes.def>
  identifiers.get("device", tok::kw___global);
  identifiers.get("threadgroup", tok::kw___local);
  identifiers.get("constant", tok::kw___constant);
}

}  // namespace

bool DeclarationRecorder::HandleTopLevelDecl(clang::DeclGroupRef group) {
  events_.push_back([group](clang::ASTConsumer& consumer, const LeftOut& left_out) {
    for (clang::Decl* declaration : group) {
      if (left_out.count(declaration) == 0) consumer.HandleTopLevelDecl(clang::DeclGroupRef(declaration));
    }
  });
  return true;
}
void DeclarationRecorder::HandleInterestingDecl(clang::DeclGroupRef group) {
  events_.push_back([group](clang::ASTConsumer& consumer, const LeftOut&) { consumer.HandleInterestingDecl(group); });
}
void DeclarationRecorder::HandleInlineFunctionDefinition(clang::FunctionDecl* function) {
  events_.push_back(
      [function](clang::ASTConsumer& consumer, const LeftOut&) { consumer.HandleInlineFunctionDefinition(function); });
}
void DeclarationRecorder::HandleTagDeclDefinition(clang::TagDecl* tag) {
  events_.push_back([tag](clang::ASTConsumer& consumer, const LeftOut&) { consumer.HandleTagDeclDefinition(tag); });
}
void DeclarationRecorder::HandleTagDeclRequiredDefinition(const clang::TagDecl* tag) {
  events_.push_back(
      [tag](clang::ASTConsumer& consumer, const LeftOut&) { consumer.HandleTagDeclRequiredDefinition(tag); });
}
void DeclarationRecorder::HandleCXXStaticMemberVarInstantiation(clang::VarDecl* variable) {
  events_.push_back([variable](clang::ASTConsumer& consumer, const LeftOut&) {
    consumer.HandleCXXStaticMemberVarInstantiation(variable);
  });
}
void DeclarationRecorder::CompleteTentativeDefinition(clang::VarDecl* variable) {
  events_.push_back(
      [variable](clang::ASTConsumer& consumer, const LeftOut&) { consumer.CompleteTentativeDefinition(variable); });
}

void DeclarationRecorder::replay(clang::ASTConsumer& consumer, const LeftOut& left_out) const {
  // Code generation reads further declarations from the precompiled header, which are recorded while this runs.
  // NOLINTNEXTLINE(modernize-loop-convert)
  for (std::size_t i = 0; i < events_.size(); ++i) events_[i](consumer, left_out);
}

void Session::create_compiler(const CompileOptions& options) {
  compiler_ = std::make_unique<clang::CompilerInstance>(make_invocation(options));
  diagnostics_ = std::make_unique<Diagnostics>(compiler_->getDiagnosticOpts(),
                                               [this](llvm::StringRef name) { return files_->why_refused(name); });
  files_ = llvm::makeIntrusiveRefCnt<SourceFiles>(options, prelude_);
  compiler_->setVirtualFileSystem(files_);
  compiler_->createDiagnostics(diagnostics_.get(), /*ShouldOwnClient=*/false);
  // Metal has no `#embed`.
  compiler_->getDiagnostics().setSeverity(clang::diag::ext_pp_embed_directive, clang::diag::Severity::Fatal, {});
  compiler_->setTarget(make_target(*compiler_, options.language, options.math_mode).get());
  compiler_->createFileManager();
  compiler_->createSourceManager();
  auto& sources = compiler_->getSourceManager();
  sources.setMainFileID(sources.createFileID(llvm::MemoryBuffer::getMemBuffer(source_, options.source_name)));
}

void Session::create_parser_state(clang::TranslationUnitKind kind, std::unique_ptr<clang::ASTConsumer> consumer) {
  auto& preprocessor = compiler_->getPreprocessor();
  add_metal_pragmas(preprocessor);
  preprocessor.getIdentifierInfo("__has_embed")->setHasMacroDefinition(false);
  set_keywords(preprocessor.getIdentifierTable());
  compiler_->createASTContext();
  if (!prelude_.empty()) {
    compiler_->createPCHExternalASTSource(prelude_file, clang::DisableValidationForModuleKind::None,
                                          /*AllowPCHWithCompilerErrors=*/false, nullptr, false);
  } else {
    preprocessor.getBuiltinInfo().initializeBuiltins(preprocessor.getIdentifierTable(), compiler_->getLangOpts());
  }
  compiler_->setASTConsumer(std::move(consumer));
  compiler_->createSema(kind, nullptr);
  // Half literals (1.0h) are an OpenCL extension to Clang.
  compiler_->getSema().getOpenCLOptions().enable("cl_khr_fp16");
}

Session::Session(std::string_view source, const CompileOptions& options, std::string_view prelude, bool with_async_copy)
    : source_(source), prelude_(prelude) {
  create_compiler(options);
  auto& preprocessor_options = compiler_->getPreprocessorOpts();
  if (!prelude_.empty()) {
    preprocessor_options.ImplicitPCHInclude = std::string(prelude_file);
  } else {
    preprocessor_options.Includes.emplace_back(prelude_header);
  }
  if (with_async_copy) preprocessor_options.Includes.emplace_back("metalloid/async_copy.h");
  compiler_->createPreprocessor(clang::TU_Complete);
  auto recorder = std::make_unique<DeclarationRecorder>();
  recorder_ = recorder.get();
  create_parser_state(clang::TU_Complete, std::move(recorder));
}

Session::Session(PreludeOnly, const CompileOptions& options)
    : source_(std::string("#include \"") + prelude_header + "\"\n") {
  create_compiler(options);
  compiler_->getLangOpts().CompilingPCH = true;
  compiler_->createPreprocessor(clang::TU_Prefix);
}

Session::~Session() = default;

bool Session::parse(tokens::Reading reading) {
  auto& preprocessor = compiler_->getPreprocessor();
  auto& sema = compiler_->getSema();
  diagnostics_->BeginSourceFile(compiler_->getLangOpts(), &preprocessor);

  // The parser registers the pragma handlers that lexing needs, so it exists before the first token is read.
  clang::Parser parser(preprocessor, sema, /*SkipFunctionBodies=*/false);
  refuse_pragmas_of_hosts(preprocessor);
  keep_user_macros_out_of_library(preprocessor);
  preprocessor.EnterMainSourceFile();
  auto& consumer = compiler_->getASTConsumer();
  if (clang::ExternalASTSource* library = compiler_->getASTContext().getExternalSource()) {
    library->StartTranslationUnit(&consumer);
  }

  tokens::TokenList tokens;
  // Comments and pragmas already make Sema report, and its reports ask for a scope.
  sema.CurContext = compiler_->getASTContext().getTranslationUnitDecl();
  do {
    preprocessor.Lex(tokens.emplace_back());
    check_token_count(tokens.size());
  } while (tokens.back().isNot(clang::tok::eof));
  sema.CurContext = nullptr;                                              // the parser enters it again
  if (compiler_->getDiagnostics().hasFatalErrorOccurred()) return false;  // and more of it would be confusion
  if (tokens::names_library_label(tokens, preprocessor) && !preprocessor.isMacroDefined("METALLOID_ASYNC_COPY_H")) {
    lacks_async_copy_ = true;
    return false;
  }
  const clang::Token end_of_file = tokens.back();
  tokens::Rewriter rewriter(preprocessor, std::move(reading));
  rewriter.run(tokens);
  left_something_out_ = rewriter.left_something_out();
  named_kernels_ = rewriter.take_named_kernels();
  instantiation_host_names_ = rewriter.take_instantiation_host_names();
  thread_declarators_ = rewriter.take_thread_declarators();
  // The parser crashes if it finds no end of the file. Rewriting unbalanced brackets can lose the last token, and
  // the parser can consume it while it recovers from a syntax error.
  tokens.insert(tokens.end(), 64, end_of_file);
  preprocessor.EnterTokenStream(tokens, /*DisableMacroExpansion=*/true, /*IsReinject=*/false);

  parser.Initialize();
  // Literals like 1.0h. Not before: loading the precompiled library resets these options.
  sema.getOpenCLOptions().support("cl_khr_fp16");
  sema.getOpenCLOptions().enable("cl_khr_fp16");
  clang::Parser::DeclGroupPtrTy group;
  clang::Sema::ModuleImportState import_state;
  for (bool at_end = parser.ParseFirstTopLevelDecl(group, import_state); !at_end;
       at_end = parser.ParseTopLevelDecl(group, import_state)) {
    if (group) consumer.HandleTopLevelDecl(group.get());
  }
  for (clang::Decl* declaration : sema.WeakTopLevelDecls()) {
    consumer.HandleTopLevelDecl(clang::DeclGroupRef(declaration));
  }
  return diagnostics_->error_count() == 0;
}

bool Session::print_preprocessed(const clang::PreprocessorOutputOptions& options, llvm::raw_ostream& to) {
  auto& preprocessor = compiler_->getPreprocessor();
  diagnostics_->BeginSourceFile(compiler_->getLangOpts(), &preprocessor);
  keep_user_macros_out_of_library(preprocessor);
  clang::DoPrintPreprocessedInput(preprocessor, &to, options);
  return diagnostics_->error_count() == 0;
}

std::string Session::precompile_prelude(const CompileOptions& options) {
  Session session(PreludeOnly{}, options);
  auto& compiler = *session.compiler_;
  auto buffer = std::make_shared<clang::PCHBuffer>();
  session.create_parser_state(
      clang::TU_Prefix, std::make_unique<clang::PCHGenerator>(
                            compiler.getPreprocessor(), compiler.getModuleCache(), prelude_file, "", buffer,
                            compiler.getCodeGenOpts(), llvm::ArrayRef<std::shared_ptr<clang::ModuleFileExtension>>(),
                            /*AllowASTWithErrors=*/false, /*IncludeTimestamps=*/false));
  if (session.parse()) compiler.getASTConsumer().HandleTranslationUnit(compiler.getASTContext());
  if (!buffer->IsComplete) {
    throw Error(ErrorCode::internal, "the standard library does not compile:\n" + session.diagnostics_->text());
  }
  return std::string(buffer->Data.begin(), buffer->Data.end());
}

std::vector<std::pair<const clang::FunctionDecl*, std::string>> Session::extra_host_names() const {
  std::vector<std::pair<const clang::FunctionDecl*, std::string>> names;
  for (const auto& repeated : diagnostics_->repeated_instantiations()) {
    const std::string* name = instantiation_host_names_.find(repeated.location);
    if (name) names.emplace_back(repeated.function, *name);
  }
  return names;
}

}  // namespace metalloid::frontend
