// The arguments of one kernel: what each is, where it binds, and whether Metal allows it.
#pragma once

#include <vector>

#include <clang/AST/ASTContext.h>

#include "metalloid/reflection.h"

namespace metalloid::frontend {

struct KernelArgument {
  ArgumentInfo info;
  const clang::VarDecl* gate = nullptr;  // function constant that decides whether the argument exists
};

// Reports invalid arguments through the context's diagnostics.
std::vector<KernelArgument> reflect_arguments(clang::ASTContext& context, const clang::FunctionDecl& kernel);

}  // namespace metalloid::frontend
