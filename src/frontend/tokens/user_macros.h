// A source may have macros of any name, `T`, `size` or `half` among them, and include a header of the standard library
// after that. On a Mac most of such headers are modules, which macros of the source do not reach. Here they are out of
// sight from where the preprocessor enters one of our headers until it is back in the user's text, including where a
// header of ours includes one of the user's.
//
// Every name that the user defines or undefines has two meanings, one per side, which change places at the border. A
// macro that a header of ours leaves behind is the user's too, unless the user has one of that name.
#pragma once

namespace clang {
class Preprocessor;
}

namespace metalloid::frontend {

// To be called before the first token is read.
void keep_user_macros_out_of_library(clang::Preprocessor& preprocessor);

}  // namespace metalloid::frontend
