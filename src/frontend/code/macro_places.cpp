#include "frontend/code/macro_places.h"

#include <clang/Lex/Lexer.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/MemoryBuffer.h>

#include <map>
#include <utility>

#include "frontend/files/library_places.h"
#include "ir/module.h"

namespace metalloid::frontend {
namespace {

constexpr unsigned lines_per_file = 4096;
constexpr llvm::StringLiteral file_prefix = "<macro places ";

thread_local MacroPlaces* now = nullptr;

}  // namespace

MacroPlaces::MacroPlaces(clang::SourceManager& sources, const clang::LangOptions& language)
    : sources_(sources), language_(language) {
  now = this;
}

MacroPlaces::~MacroPlaces() { now = nullptr; }

MacroPlaces* MacroPlaces::current() { return now; }

clang::SourceLocation MacroPlaces::stand_in(clang::SourceLocation place, clang::SourceLocation outside) {
  const clang::SourceLocation spelling = sources_.getSpellingLoc(place);
  if (spelling == outside || spelling.isInvalid() || outside.isInvalid()) return outside;
  if (sources_.isWrittenInScratchSpace(spelling) || sources_.isWrittenInBuiltinFile(spelling) ||
      sources_.isWrittenInCommandLineFile(spelling) || is_library_file(sources_, sources_.getFileID(spelling))) {
    return outside;
  }
  clang::SourceLocation& known = known_[{spelling.getRawEncoding(), outside.getRawEncoding()}];
  if (known.isValid()) return known;
  const auto line = static_cast<unsigned>(entries_.size() % lines_per_file);
  if (line == 0) {
    const std::string name = (file_prefix + llvm::Twine(files_.size()) + ">").str();
    files_.push_back(
        sources_.createFileID(llvm::MemoryBuffer::getMemBufferCopy(std::string(lines_per_file, '\n'), name)));
  }
  entries_.push_back({spelling, outside, clang::Lexer::getImmediateMacroName(place, sources_, language_).str()});
  return known = sources_.getLocForStartOfFile(files_.back()).getLocWithOffset(static_cast<int>(line));
}

class LocationWriter {
 public:
  LocationWriter(const MacroPlaces& places, llvm::Module& module)
      : places_(places), module_(module), context_(module.getContext()) {}

  void run() {
    for (llvm::Function& function : module_) {
      llvm::DISubprogram* program = function.getSubprogram();
      if (!program) continue;
      llvm::DISubprogram* fixed = fix(*program);
      if (fixed != program) function.setSubprogram(fixed);
      for (llvm::Instruction& instruction : llvm::instructions(function)) {
        if (const llvm::DebugLoc& place = instruction.getDebugLoc()) instruction.setDebugLoc(fix(place.get()));
        llvm::updateLoopMetadataDebugLocations(instruction, [&](llvm::Metadata* data) -> llvm::Metadata* {
          auto* location = llvm::dyn_cast<llvm::DILocation>(data);
          return location ? fix(location) : data;
        });
      }
    }
  }

 private:
  const MacroPlaces::Entry* entry_of(const llvm::DIFile* file, unsigned line) const {
    unsigned number = 0;
    if (!file || !file->getFilename().starts_with(file_prefix)) return nullptr;
    if (file->getFilename().drop_front(file_prefix.size()).drop_back().getAsInteger(10, number)) return nullptr;
    const std::size_t index = std::size_t{number} * lines_per_file + line - 1;
    return line != 0 && index < places_.entries_.size() ? &places_.entries_[index] : nullptr;
  }

  static bool is_stand_in(const llvm::DIFile* file) { return file && file->getFilename().starts_with(file_prefix); }

  llvm::DIFile* file_of(const clang::PresumedLoc& place) {
    return llvm::DIFile::get(context_, place.getFilename(), "");
  }

  llvm::DISubprogram* fix(llvm::DISubprogram& program) {
    const MacroPlaces::Entry* entry = entry_of(program.getFile(), program.getLine());
    if (!entry) return &program;
    llvm::DISubprogram*& fixed = programs_[&program];
    if (fixed) return fixed;
    const clang::PresumedLoc place = places_.sources_.getPresumedLoc(entry->outside);
    llvm::DIFile* file = file_of(place);
    fixed = llvm::DISubprogram::getDistinct(context_, file, program.getName(), program.getLinkageName(), file,
                                            place.getLine(), program.getType(), place.getLine(), nullptr, 0, 0,
                                            program.getFlags(), program.getSPFlags(), program.getUnit());
    return fixed;
  }

  llvm::DILocalScope* fix(llvm::DILocalScope* scope) {
    if (auto* program = llvm::dyn_cast<llvm::DISubprogram>(scope)) return fix(*program);
    auto* block = llvm::dyn_cast<llvm::DILexicalBlockFile>(scope);
    if (!block) return scope;
    llvm::DILocalScope* outer = fix(block->getScope());
    if (is_stand_in(block->getFile()) || outer->getFile() == block->getFile()) return outer;
    return llvm::DILexicalBlockFile::get(context_, outer, block->getFile(), block->getDiscriminator());
  }

  llvm::DILocation* fix(llvm::DILocation* location) {
    if (llvm::DILocation* fixed = locations_.lookup(location)) return fixed;
    llvm::DILocalScope* scope = fix(location->getScope());
    llvm::DILocation* at = location->getInlinedAt() ? fix(location->getInlinedAt()) : nullptr;
    const MacroPlaces::Entry* entry = entry_of(location->getScope()->getFile(), location->getLine());
    if (!entry) {
      const unsigned line = is_stand_in(location->getScope()->getFile()) ? 0 : location->getLine();
      const bool is_right =
          line == location->getLine() && scope == location->getScope() && at == location->getInlinedAt();
      return locations_[location] =
                 is_right ? location : llvm::DILocation::get(context_, line, location->getColumn(), scope, at);
    }
    const clang::PresumedLoc outside = places_.sources_.getPresumedLoc(entry->outside),
                             inside = places_.sources_.getPresumedLoc(entry->spelling);
    llvm::DIFile* file = file_of(outside);
    if (scope->getFilename() != file->getFilename()) scope = llvm::DILexicalBlockFile::get(context_, scope, file, 0);
    auto* expansion = llvm::DILocation::get(context_, outside.getLine(), outside.getColumn(), scope, at);
    llvm::DISubprogram*& macro = macros_[entry->macro + ' ' + inside.getFilename()];
    if (!macro) {
      llvm::DISubprogram* program = scope->getSubprogram();
      llvm::DIFile* own = file_of(inside);
      macro = llvm::DISubprogram::getDistinct(context_, own, entry->macro, llvm::StringRef(ir::macro_scope_name), own,
                                              inside.getLine(), program->getType(), inside.getLine(), nullptr, 0, 0,
                                              llvm::DINode::FlagZero, program->getSPFlags(), program->getUnit());
    }
    return locations_[location] =
               llvm::DILocation::get(context_, inside.getLine(), inside.getColumn(), macro, expansion);
  }

  const MacroPlaces& places_;
  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::DenseMap<llvm::DISubprogram*, llvm::DISubprogram*> programs_;
  llvm::DenseMap<llvm::DILocation*, llvm::DILocation*> locations_;
  std::map<std::string, llvm::DISubprogram*> macros_;
};

void MacroPlaces::write(llvm::Module& module) {
  if (!entries_.empty()) LocationWriter(*this, module).run();
}

}  // namespace metalloid::frontend
