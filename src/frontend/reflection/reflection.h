// What a parsed source offers: its kernels, their arguments and attributes, its function constants.
#pragma once

#include <map>
#include <vector>

#include "frontend/session/session.h"
#include "metalloid/reflection.h"

namespace metalloid::frontend {

struct ReflectedKernel {
  KernelInfo info;                                // symbol and threadgroup memory are filled in after code generation
  const clang::FunctionDecl* function = nullptr;  // null if only its name was read
  clang::SourceLocation place = {};
};

// A variable at program scope that kernels take as an argument.
struct ReflectedProgramArgument {
  ArgumentInfo info;
  const clang::VarDecl* variable = nullptr;
  const clang::VarDecl* gate = nullptr;  // the constant that decides whether the argument exists, if one does
  std::string symbol;                    // filled in by code generation
};

struct Reflection {
  std::vector<ReflectedKernel> kernels;
  std::vector<std::pair<FunctionConstantInfo, const clang::VarDecl*>> function_constants;
  std::vector<ReflectedProgramArgument> program_arguments;
  std::vector<UnsupportedFunction> unsupported;
  // Gate of kernels[k].info.arguments[a].
  std::map<std::pair<std::size_t, std::size_t>, const clang::VarDecl*> gates;
};

// Reports invalid kernels through the session's diagnostics.
Reflection reflect(Session& session);

}  // namespace metalloid::frontend
