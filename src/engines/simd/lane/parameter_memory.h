// Whose memory the addresses are that functions which stay calls are handed.
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Argument.h>
#include <llvm/IR/Instruction.h>

#include <cstdint>

namespace metalloid::engines::simd {

struct Range {
  std::int64_t first, end;  // bytes behind an address
};

// An address of the thread's memory, or of any kind.
bool is_thread_address(const llvm::Value& value);

// Of a load or a store.
std::uint64_t bytes_of(const llvm::Instruction& access);

// Whether bytes behind a parameter are of a variable, and no other operand of a call leads to them.
bool is_apart(llvm::Argument& parameter, Range range);

// Whether bytes behind a parameter are there in a variable of each caller, or its caller's: reading them, and writing
// them back as they were, is nothing.
bool is_of_variables(const llvm::Argument& parameter, Range range);

}  // namespace metalloid::engines::simd
