#include "frontend/tokens/user_macros.h"

#include <memory>

#include <clang/Lex/MacroInfo.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/ADT/MapVector.h>

#include "frontend/files/library_places.h"

namespace metalloid::frontend {
namespace {

using namespace clang;

// What our headers ask on purpose, so that the user's word counts.
bool is_configuration(const IdentifierInfo& name) { return name.getName() == "__METAL_VERSION__"; }

class UserMacros final : public PPCallbacks {
 public:
  explicit UserMacros(Preprocessor& preprocessor)
      : preprocessor_(preprocessor), sources_(preprocessor.getSourceManager()) {}

  void MacroDefined(const Token& name, const MacroDirective* directive) override {
    changed(name, directive->getPrevious());
  }
  void MacroUndefined(const Token& name, const MacroDefinition& definition, const MacroDirective*) override {
    changed(name, definition.getLocalDirective());
  }

  void LexedFileChanged(FileID file, LexedFileChangeReason, SrcMgr::CharacteristicKind, FileID,
                        SourceLocation) override {
    const bool in_library = is_library_file(sources_, file);
    if (in_library == in_library_) return;
    in_library_ = in_library;
    for (auto& [name, meaning] : names_) cross(name, meaning);
  }

 private:
  struct Meaning {
    MacroInfo* other_side = nullptr;    // null: not a macro there
    MacroInfo* when_entered = nullptr;  // the library's, to see whether it defined the name anew
  };

  bool is_by_user(SourceLocation place) const {
    const SourceLocation file_place = sources_.getFileLoc(place);
    if (sources_.isWrittenInCommandLineFile(file_place)) return true;
    return !sources_.isWrittenInBuiltinFile(file_place) && !is_library_file(sources_, sources_.getFileID(file_place));
  }

  void changed(const Token& token, const MacroDirective* before) {
    const IdentifierInfo* name = token.getIdentifierInfo();
    if (in_library_ || !name || !is_by_user(token.getLocation()) || is_configuration(*name)) return;
    const auto [entry, is_new] = names_.try_emplace(name);
    if (is_new && before) {
      entry->second.other_side = const_cast<MacroDirective*>(before)->getMacroInfo();
    }
  }

  void cross(const IdentifierInfo* constant_name, Meaning& meaning) {
    auto* name = const_cast<IdentifierInfo*>(constant_name);
    MacroInfo* left_behind = preprocessor_.getMacroInfo(name);
    MacroInfo* wanted = meaning.other_side;
    if (in_library_) {
      meaning.when_entered = wanted;
    } else if (!wanted && left_behind != meaning.when_entered) {
      wanted = left_behind;
    }
    meaning.other_side = left_behind;
    if (wanted == left_behind) return;
    if (wanted) {
      preprocessor_.appendDefMacroDirective(name, wanted, wanted->getDefinitionLoc());
    } else {
      name->setHasMacroDefinition(false);
    }
  }

  Preprocessor& preprocessor_;
  const SourceManager& sources_;
  llvm::MapVector<const IdentifierInfo*, Meaning> names_;
  bool in_library_ = false;
};

}  // namespace

void keep_user_macros_out_of_library(Preprocessor& preprocessor) {
  preprocessor.addPPCallbacks(std::make_unique<UserMacros>(preprocessor));
}

}  // namespace metalloid::frontend
