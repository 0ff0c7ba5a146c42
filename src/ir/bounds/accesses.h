// What the accesses of a kernel's code are, and the texts that name them.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Instruction.h>
#include <llvm/IR/Value.h>

#include <string>

namespace metalloid::ir {

// How the text of an access begins (check_bounds.h): then come the bytes of one, 0 if they vary, and the line.
//   "r4 blur.metal:12"
enum class AccessKind : char { read = 'r', write = 'w', change = 'c' };

struct Access {
  llvm::Instruction* instruction;
  llvm::Value* pointer;
  llvm::Value* bytes;
  AccessKind kind;
};

// None, one, or of a copy both ends.
llvm::SmallVector<Access, 2> accesses_of(llvm::Instruction& instruction, const llvm::DataLayout& layout);

// "blur.metal:12"; empty if unknown.
std::string line_of(const llvm::Instruction& instruction);
// As the source has it; empty for variables that the compiler made.
std::string name_of_variable(const llvm::Value& variable);

}  // namespace metalloid::ir
