// `#pragma METAL ...`.
#pragma once

namespace clang {
class Preprocessor;
}

namespace metalloid::frontend {

// math_mode and contract become Clang's own floating-point pragmas; `internals` needs nothing here.
void add_metal_pragmas(clang::Preprocessor& preprocessor);

}  // namespace metalloid::frontend
