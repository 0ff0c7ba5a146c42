// Which places belong to the standard library. By the file that they are in alone: `#line`, line markers and
// `#pragma system_header` let a source claim to be anything, and Clang's own isInSystemHeader believes them.
#pragma once

#include <clang/Basic/SourceManager.h>

namespace metalloid::frontend {

bool is_library_file(const clang::SourceManager& sources, clang::FileID file);
// A macro of the library that is used in the user's text is at the user's place.
bool is_in_library(const clang::SourceManager& sources, clang::SourceLocation place);
// Who wrote the token, even where a macro of the library brings it to the user's place.
bool is_written_in_library(const clang::SourceManager& sources, clang::SourceLocation place);

}  // namespace metalloid::frontend
