// Clang's options for MSL.
#pragma once

#include <clang/Frontend/CompilerInvocation.h>

#include "metalloid/library.h"
#include "stdlib/headers.h"

namespace metalloid::frontend {

// Folders of the in-memory file system.
inline constexpr const char* stdlib_folder = stdlib::folder;
inline constexpr const char* memory_headers_folder = "/metalloid/headers";
// The standard library, parsed before every source: as text in its folder, and precompiled.
inline constexpr const char* prelude_header = "metalloid/prelude.h";
inline constexpr const char* prelude_file = "/metalloid/prelude.pch";

std::shared_ptr<clang::CompilerInvocation> make_invocation(const CompileOptions& options);

}  // namespace metalloid::frontend
