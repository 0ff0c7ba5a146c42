// Metal's rules about sources that Clang does not know, or knows for OpenCL C only.
#pragma once

#include "frontend/session/session.h"
#include "metalloid/library.h"

namespace metalloid::frontend {

// Reports what the parsed source does that Metal forbids: variables outside the constant space, threadgroup variables
// outside of kernels, arrays of variable length, casts between address spaces, lambdas before Metal 3.2, goto, inline
// assembly, ids of members that are none. Templates are judged as they are written, not once per instantiation, but for
// ids that depend on their arguments.
void check_source_rules(Session& session, LanguageVersion language);

}  // namespace metalloid::frontend
