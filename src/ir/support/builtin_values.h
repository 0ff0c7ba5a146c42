// What Metal's built-in arguments are, by where a thread lies.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <array>
#include <optional>

#include "metalloid/reflection.h"

namespace metalloid::ir {

using Triple = std::array<llvm::Value*, 3>;

// All of 32 bits.
struct ThreadPlace {
  Triple grid;      // threads
  Triple groups;    // threadgroups of the grid
  Triple nominal;   // threads of a threadgroup
  Triple group;     // which threadgroup
  Triple actual;    // its threads: fewer at the grid's edge
  Triple position;  // in it
  llvm::Value* index;
  std::optional<Triple> in_grid = {};  // where that is known already: its position there
};

// The argument of a kernel that has that type: a number, or what is written to `memory` at the builder's place, which
// is the argument if that is a pointer. A kernel's argument without a meaning is an internal error.
llvm::Value* builtin_argument(llvm::IRBuilder<>& builder, const ThreadPlace& place, const ArgumentInfo& argument,
                              llvm::Type* type, llvm::Value* memory);

}  // namespace metalloid::ir
