// Vectors that are made of shorter ones, and taken apart again.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/IRBuilder.h>

namespace metalloid::engines::simd {

// Vectors one behind the other; as many as a power of two, all of one type.
llvm::Value* join(llvm::IRBuilder<>& builder, llvm::ArrayRef<llvm::Value*> pieces);
// Of the pieces of that length that a vector consists of, the one of that number.
llvm::Value* piece_of(llvm::IRBuilder<>& builder, llvm::Value* vector, unsigned number, unsigned length);

}  // namespace metalloid::engines::simd
