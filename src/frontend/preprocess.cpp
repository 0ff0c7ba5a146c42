// Clang's preprocessor alone.
#include "metalloid/preprocess.h"

#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/Support/raw_ostream.h>

#include "frontend/files/library_places.h"
#include "frontend/frontend.h"
#include "frontend/session/session.h"
#include "metalloid/error.h"

namespace metalloid::frontend {
namespace {

// The files that a source goes through, those of the standard library left out.
class Includes final : public clang::PPCallbacks {
 public:
  Includes(const clang::SourceManager& sources, std::vector<PreprocessedSource::Include>& found)
      : sources_(sources), found_(found) {}

  void FileChanged(clang::SourceLocation place, FileChangeReason reason, clang::SrcMgr::CharacteristicKind,
                   clang::FileID) override {
    clang::FileID file = sources_.getFileID(place);
    if (reason != EnterFile || is_library_file(sources_, file)) return;
    unsigned depth = 0;
    for (; file != sources_.getMainFileID(); ++depth) {
      const clang::SourceLocation included = sources_.getIncludeLoc(file);
      if (included.isInvalid()) return;  // what Clang itself reads
      file = sources_.getFileID(included);
    }
    if (depth != 0) found_.push_back({depth, sources_.getFilename(place).str()});
  }

 private:
  const clang::SourceManager& sources_;
  std::vector<PreprocessedSource::Include>& found_;
};

}  // namespace

PreprocessedSource preprocess(std::string_view source, const PreprocessOptions& options, std::string_view prelude) {
  Session session(source, options.compile, prelude);
  PreprocessedSource result;
  auto& compiler = session.compiler();
  compiler.getPreprocessor().addPPCallbacks(std::make_unique<Includes>(compiler.getSourceManager(), result.includes));
  clang::PreprocessorOutputOptions form;
  form.ShowCPP = !options.definitions_only;
  form.ShowMacros = options.definitions_only;
  form.ShowLineMarkers = options.line_marks;
  form.ShowComments = options.comments || options.macro_comments;
  form.ShowMacroComments = options.macro_comments;
  llvm::raw_string_ostream text(result.text);
  if (!session.print_preprocessed(form, text)) {
    throw Error(ErrorCode::compile_error, session.diagnostics().text());
  }
  result.warnings = session.diagnostics().text();
  return result;
}

}  // namespace metalloid::frontend
