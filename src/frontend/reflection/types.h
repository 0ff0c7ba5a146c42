// Clang's types as hosts see them.
#pragma once

#include <clang/AST/ASTContext.h>

#include "metalloid/reflection.h"

namespace metalloid::frontend {

TypeInfo describe_type(clang::ASTContext& context, clang::QualType type);

}  // namespace metalloid::frontend
