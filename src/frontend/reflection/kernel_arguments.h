// The arguments of one kernel: what each is, where it binds, and whether Metal allows it.
#pragma once

#include <string>
#include <vector>

#include <clang/AST/ASTContext.h>

#include "metalloid/reflection.h"

namespace metalloid::frontend {

struct KernelArgument {
  ArgumentInfo info;
  bool is_gated = false;                 // a constant decides whether the argument exists
  const clang::VarDecl* gate = nullptr;  // that constant if its value is known to pipelines only
};

// The value that an attribute of this name stands for, or Builtin::none.
Builtin builtin_named(llvm::StringRef attribute);

// Why no kernel with these parameters can run, for a person: one is of a type that Metalloid does not have. Empty if
// none is.
std::string unsupported_argument(clang::ASTContext& context, const clang::FunctionDecl& kernel);

// Reports invalid arguments through the context's diagnostics.
std::vector<KernelArgument> reflect_arguments(clang::ASTContext& context, const clang::FunctionDecl& kernel);

// The argument that a variable at program scope stands for in each kernel that uses it.
KernelArgument reflect_program_argument(clang::ASTContext& context, const clang::VarDecl& variable);

// True for variables at program scope with an attribute of an argument.
bool is_program_argument(const clang::VarDecl& variable);

}  // namespace metalloid::frontend
