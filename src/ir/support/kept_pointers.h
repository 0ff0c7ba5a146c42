// Where pointers come from that a thread keeps in variables of its own: arrays of rows, structs, ...
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <memory>
#include <optional>
#include <vector>

namespace metalloid::ir {

class PointerRoots;

//   rows[i] = x + 64 * i;        store ptr %p, ptr %slot                  store i32 0, ptr %slot.of.rows.roots
//   rows[j] = y;            ->   store ptr %y, ptr %other.slot        ->  store i32 1, ptr %other.slot.of.rows.roots
//   ... rows[k][n]               %q = load ptr, ptr %third.slot           %root = load i32, ptr %third.slot.of...
//
// The pointers that a load may give are all that anybody stores to the variables. If they have several roots, a second
// variable beside the first says which one it is: the number of a root for each eight bytes.
class KeptPointers {
 public:
  explicit KeptPointers(llvm::Function& function);
  ~KeptPointers();

  // The roots of the pointers that a load may give, each there at the load; empty if it is not known.
  const llvm::SmallVector<llvm::Value*, 2>& roots_of(llvm::LoadInst& load);
  // In front of a load with several roots: number_of the one that it is, 32 bits. Null if that cannot be followed.
  llvm::Value* number_at(llvm::LoadInst& load);
  // Whether what is stored there stays among loads, stores and copies.
  bool follows(llvm::Value* address);
  // A root's number.
  unsigned number_of(llvm::Value* root);

 private:
  struct Slot {
    llvm::Instruction* access;
    llvm::Value* address;
    std::optional<std::uint64_t> offset;  // nothing: it varies
    std::uint64_t bytes;
  };
  struct Copy {
    llvm::MemTransferInst* instruction;
    llvm::AllocaInst* source;
    std::optional<std::uint64_t> to, from;
    std::uint64_t bytes;
  };
  // A variable whose address stays among loads, stores and copies.
  struct Variable {
    std::vector<Slot> pointers, others;  // stored
    std::vector<Copy> copies;            // into it
    bool is_lost = false;
    llvm::AllocaInst* numbers = nullptr;
  };

  Variable& variable(llvm::AllocaInst& memory);
  void look_at(llvm::AllocaInst& memory, Variable& found);
  bool is_copied(llvm::Value* value);
  llvm::AllocaInst* variable_behind(llvm::Value* address);
  bool collect(llvm::LoadInst& load, llvm::SmallSetVector<llvm::Value*, 16>& stored);
  bool keep_numbers(llvm::AllocaInst& memory);
  llvm::Value* place_in_numbers(llvm::AllocaInst& numbers, llvm::Value* address, llvm::Instruction& before);

  llvm::Function& function_;
  llvm::DominatorTree dominators_;
  llvm::DenseMap<llvm::AllocaInst*, std::unique_ptr<Variable>> variables_;
  llvm::DenseMap<llvm::LoadInst*, llvm::SmallVector<llvm::Value*, 2>> roots_;
  llvm::DenseMap<llvm::Value*, unsigned> numbers_;
  std::unique_ptr<PointerRoots> followed_;  // says which root's number a pointer has
};

}  // namespace metalloid::ir
