// Which bits of a value are undefined, bit by bit, as MemorySanitizer computes it (Stepanov, Serebryany, CGO 2015):
//
//   %c = and i32 %a, %b   ->   %c.bits = (%a.bits & %b.bits) | (%a.bits & %b) | (%a & %b.bits)
//
// An integer of the value's width for each of its numbers and pointers, in the value's own shape.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "support/function_ref.h"

namespace metalloid::checker {

// Null for types that have no bits, or none that are known.
llvm::Type* type_of_bits(llvm::Type* type);
llvm::Constant* no_bits(llvm::Type* type);  // of a value of that type
llvm::Constant* all_bits(llvm::Type* type);

// i1: whether any bit is set.
llvm::Value* any_bit(llvm::IRBuilder<>& builder, llvm::Value* bits);

// Those of an instruction's result, of those of its operands. Not of phis, loads and calls that do more than compute.
llvm::Value* result_bits(llvm::IRBuilder<>& builder, llvm::Instruction& instruction,
                         support::function_ref<llvm::Value*(llvm::Value*)> bits_of);

}  // namespace metalloid::checker
