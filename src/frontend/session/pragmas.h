// `#pragma METAL ...`.
#pragma once

namespace clang {
class Preprocessor;
}

namespace metalloid::frontend {

// math_mode and contract become Clang's own floating-point pragmas; `internals` needs nothing here.
void add_metal_pragmas(clang::Preprocessor& preprocessor);

// Pragmas by which Clang lets a source name symbols and sections of a host's program, or claim that it is a system
// header. To be called when the parser has registered its own.
void refuse_pragmas_of_hosts(clang::Preprocessor& preprocessor);

}  // namespace metalloid::frontend
