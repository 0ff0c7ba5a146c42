// What of a function may be undefined, and by way of which variables (the first step of follow_undefined.h).
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace metalloid::checker {

class UndefinedSources {
 public:
  explicit UndefinedSources(llvm::Function& function);

  bool may_be_undefined(const llvm::Value& value) const { return values_.contains(&value); }
  // Those that may hold something undefined, and of which all accesses are known.
  const llvm::SetVector<llvm::AllocaInst*>& variables() const { return variables_; }
  bool is_followed(llvm::AllocaInst& variable) const { return variables_.contains(&variable); }
  // Where they begin undefined.
  const llvm::SmallVector<llvm::CallInst*, 8>& beginnings() const { return beginnings_; }
  const llvm::DenseSet<llvm::AllocaInst*>& begin_undefined() const { return begin_undefined_; }

  // The variables that an address leads to; empty where it may lead elsewhere, too.
  llvm::SmallVector<llvm::AllocaInst*, 2> variables_of(llvm::Value* address) const;
  // Divisions of which the result is not certainly used.
  static bool is_certainly_used(llvm::CallInst& division, const llvm::PostDominatorTree& order);

 private:
  void look_at_addresses(llvm::Function& function);
  bool spread(llvm::Instruction& instruction);
  bool add(llvm::AllocaInst* variable);

  llvm::DenseSet<const llvm::Value*> values_;
  llvm::SetVector<llvm::AllocaInst*> variables_;
  llvm::DenseSet<llvm::AllocaInst*> begin_undefined_, lost_;
  llvm::DenseMap<llvm::AllocaInst*, llvm::SmallVector<llvm::AllocaInst*, 2>> together_;  // one address leads to both
  llvm::SmallVector<llvm::CallInst*, 8> beginnings_;
};

// The pointer that an access gets, without the check of it.
llvm::Value* unchecked(llvm::Value* address);
// Where it comes from, behind checks of accesses wherever they stand.
llvm::SmallVector<llvm::Value*, 8> roots_of(llvm::Value* address);
// Whether a call computes its result of its operands and does nothing else.
bool is_pure(const llvm::CallInst& call);
bool is_division_check(const llvm::Value& value);

}  // namespace metalloid::checker
