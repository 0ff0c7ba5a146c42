// A source after its preprocessor, for build systems that look at it (`metal -E`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "metalloid/library.h"

namespace metalloid {

// Macros are replaced, files that it includes are in it, those of the standard library are not.
struct PreprocessOptions {
  CompileOptions compile = {};
  bool line_marks = true;         // where which line comes from
  bool comments = false;          // stay (-C)
  bool macro_comments = false;    // also those within macros (-CC)
  bool definitions_only = false;  // instead of the text, the macros at its end (-dM)
};
struct PreprocessedSource {
  struct Include {
    unsigned depth;  // 1: by the source itself
    std::string path;
  };
  std::string text;
  std::vector<Include> includes;  // in their order
  std::string warnings;
};
// Throws compile_error.
PreprocessedSource preprocess(std::string_view source, const PreprocessOptions& options);

}  // namespace metalloid
