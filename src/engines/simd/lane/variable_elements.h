// Of which elements the variables of a lane's program consist, as far as their accesses tell.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <cstdint>
#include <vector>

namespace metalloid::engines::simd {

// A variable, whose address is used for nothing but accesses that are made of whole elements.
struct ElementVariable {
  llvm::AllocaInst* variable;
  std::uint64_t element;                     // bytes: 1, 2, 4 or 8
  std::vector<llvm::Instruction*> accesses;  // loads and stores
  std::vector<llvm::MemSetInst*> fills;
};

// A copy in which at least one end is such a variable.
struct ElementCopy {
  llvm::MemTransferInst* copy;
  bool from_elements, to_elements;
  std::uint64_t element;
};

struct ElementVariables {
  std::vector<ElementVariable> variables;
  std::vector<ElementCopy> copies;
};

// Of the variables in the entry block. Variables that are copied to each other have the same elements.
ElementVariables element_variables(llvm::Function& lane);

}  // namespace metalloid::engines::simd
