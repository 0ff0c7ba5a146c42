// Small whole numbers that lie together are read as words.
//
//   a = load i16 p; b = load i16 p + 2            of memory that nobody writes, with p aligned to 4 bytes
// ->
//   w = load i32 p; a = w; b = w >> 16
//
// So that masks are those of the word, of which LLVM joins several, and the assembler need not take words apart first.
// Whole numbers of 8 and 16 bits that lie together in one block; up to four words are read at once.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace metalloid::engines::cuda {

void read_words(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace metalloid::engines::cuda
