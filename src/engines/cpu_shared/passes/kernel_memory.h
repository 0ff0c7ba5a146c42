// What the accesses of a kernel's code are, and which memory arguments and variables are.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "engines/cpu_shared/run/out_of_bounds.h"
#include "metalloid/reflection.h"

namespace metalloid::engines::cpu {

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
std::optional<std::uint64_t> constant_of(const llvm::Value* value);

// A kernel's arguments in an entry (lower_arguments.h).
class KernelArguments {
 public:
  KernelArguments(llvm::Function& entry, const KernelInfo& info);

  // The argument whose memory this address is, which came out of the state's list or out of a tensor's descriptor.
  std::optional<unsigned> find(llvm::Value& root) const;
  // At the entry's beginning: how many bytes there are from that address on, and where it stands how many are in front.
  struct Extent {
    llvm::Value *bytes, *front;
  };
  Extent extent_of(unsigned argument);
  const ArgumentInfo& info(unsigned argument) const { return info_.arguments[argument]; }
  std::size_t count() const { return info_.arguments.size(); }

 private:
  std::pair<llvm::Value*, std::uint64_t> apart(llvm::Value* address) const;
  std::optional<unsigned> in_list(llvm::Value& value) const;
  std::optional<unsigned> elements_of(llvm::Value& value) const;

  llvm::Function& entry_;
  const KernelInfo& info_;
  const llvm::DataLayout& layout_;
  llvm::DenseMap<unsigned, Extent> extents_;
  llvm::Instruction* list_ = nullptr;
};

}  // namespace metalloid::engines::cpu
