// What an engine tells of the memory that a kernel's arguments are: where an address of it comes from, and how large it
// is, are matters of how the engine passes arguments.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <optional>

#include "ir/bounds/accesses.h"

namespace metalloid::ir {

// As one function of the module sees it: the kernel's own, or one that stays a call.
class KernelMemory {
 public:
  KernelMemory() = default;
  KernelMemory(const KernelMemory&) = delete;
  KernelMemory& operator=(const KernelMemory&) = delete;
  virtual ~KernelMemory() = default;

  // How many bytes there are from an argument's address on, and where it stands how many are in front.
  struct Extent {
    llvm::Value *bytes, *front;
  };
  // The argument whose memory a root (support/pointer_roots.h) is; nothing for other addresses.
  virtual std::optional<unsigned> find(llvm::Value& root) const = 0;
  // There at the function's beginning, of an argument that find gave.
  virtual Extent extent_of(unsigned argument) = 0;

  // At the builder's place, of an argument whose number only the running code knows (support/pointer_tags.h). It is
  // that of an argument.
  struct Numbered {
    Extent extent;
    llvm::Value* begin;  // the address as a number of its space, 64 bits
  };
  virtual Numbered of_number(llvm::IRBuilderBase& builder, llvm::Value* number) = 0;

  // Whether a load is part of what every thread begins with, its index among that: no check comes in front of it.
  virtual bool is_of_start(llvm::LoadInst& load) const = 0;
  // What else than LLVM's instructions counts as an access, by an engine's own passes. May make code in front of it.
  virtual llvm::SmallVector<Access, 3> other_accesses_of(llvm::Instruction& instruction) const = 0;
};

}  // namespace metalloid::ir
