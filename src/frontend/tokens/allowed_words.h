// The closed lists of what a source may use of Clang beyond C++ and Metal: attributes, builtin functions and keywords.
// Whatever is on none of them is refused by host_words.cpp, in every spelling: these look at the tokens that the parser
// gets, and at what Clang itself makes of a name.
#pragma once

#include <clang/Basic/AttributeCommonInfo.h>

#include "frontend/tokens/token_list.h"

namespace metalloid::frontend::tokens {

// Attributes that say how to compile, lay out or warn, and those that mean nothing to Clang.
bool is_allowed_attribute(clang::AttributeCommonInfo::Kind kind);
// Builtin functions that compute a value from values, and nothing else.
bool is_allowed_builtin(llvm::StringRef name);
// All words of C++, traits of types, and a few of Clang's own.
bool is_allowed_keyword(clang::tok::TokenKind kind);

}  // namespace metalloid::frontend::tokens
