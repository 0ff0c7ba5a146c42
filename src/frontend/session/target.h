// The target that Clang compiles MSL for: the host's type sizes and data layout, Metal's address spaces, no ABI.
#pragma once

#include <memory>

#include <clang/Basic/TargetInfo.h>

#include "metalloid/library.h"

namespace clang {
class CompilerInstance;
}

namespace metalloid::frontend {

// The invocation's triple must be this one, which Clang knows and has no ABI for.
inline constexpr const char* neutral_triple = "tce-unknown-unknown";

// Macros (__METAL_VERSION__ and its kin) depend on the language version.
llvm::IntrusiveRefCntPtr<clang::TargetInfo> make_target(clang::CompilerInstance& compiler, LanguageVersion language,
                                                        MathMode math_mode);

}  // namespace metalloid::frontend
