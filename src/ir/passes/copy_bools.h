// Bools that are only copied keep their bytes.
#pragma once

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace metalloid::ir {

// If a load's metadata says that it is one of a bool, a mark that says so alone, and promises nothing of its byte.
void mark_bool(llvm::LoadInst& load);

//   %byte = load i8, ptr %x, !metalloid.bool                         store i8 %byte, ptr %y
//   %bit = trunc i8 %byte to i1                                  ->
//   %stored = zext i1 %bit to i8
//   store i8 %stored, ptr %y
//
// As it is for a compiler that counts on 0 and 1: MLX copies any bytes as bools, by functions, so that this comes
// behind inlining.
void copy_bools(llvm::Module& module);

}  // namespace metalloid::ir
