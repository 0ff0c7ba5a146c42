#include "frontend/files/library_places.h"

#include "frontend/frontend.h"
#include "frontend/session/options.h"

namespace metalloid::frontend {

bool is_library_file(const clang::SourceManager& sources, clang::FileID file) {
  const clang::OptionalFileEntryRef entry = sources.getFileEntryRefForID(file);
  if (!entry) return false;
  const char* on_disk = stdlib_on_disk();
  llvm::StringRef name = entry->getName();
  return name.consume_front(llvm::StringRef(on_disk ? on_disk : stdlib_folder).rtrim('/')) && name.starts_with("/");
}

bool is_in_library(const clang::SourceManager& sources, clang::SourceLocation place) {
  return place.isValid() && is_library_file(sources, sources.getFileID(sources.getExpansionLoc(place)));
}

bool is_written_in_library(const clang::SourceManager& sources, clang::SourceLocation place) {
  if (place.isInvalid()) return false;
  const clang::FileID file = sources.getFileID(sources.getSpellingLoc(place));
  if (sources.isWrittenInScratchSpace(sources.getSpellingLoc(place))) return is_in_library(sources, place);  // `a##b`
  return is_library_file(sources, file);
}

}  // namespace metalloid::frontend
