// Functions that stay calls and in which threads meet, as explicit_lanes sees them.
#pragma once

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "ir/module.h"
#include "ir/passes/inline_choice.h"

namespace metalloid::ir {

// Functions whose last parameter is the mask of those that call them together, by the functions that calls still name.
using MaskedFunctions = llvm::MapVector<llvm::Function*, llvm::Function*>;

// What lanes do together in a function they do with those that came by the same call, so that a call is a place where
// lanes meet, and the function is told who they are:
//
//   define i32 @count(i32 %n)           ->    define i32 @count(i32 %n, i32 %lanes)
//     %s = simd_sum %n                          %s = masked simd_sum %lanes, %n
//
// Threadgroup barriers in functions have no masks, and then none has: threads wait for each other wherever they are,
// each for itself. For that nobody may wait for lanes of its simdgroup while these wait at a barrier.
class MeetingFunctions {
 public:
  explicit MeetingFunctions(KernelModule& kernel);

  // A meeting that cannot be carried out so; null if there is none. To be asked first.
  const llvm::CallInst* refused();
  // Makes the functions new ones, which end in one place, and drops ends of turns where threads come for themselves.
  void add_masks();
  // What nobody calls any more.
  void erase();

  const MaskedFunctions& masked() const { return masked_; }
  // Whether a call is a place where lanes meet and a mask is wanted.
  bool is_meeting(const llvm::CallInst& call) const;

 private:
  using BlockSet = llvm::SmallPtrSet<llvm::BasicBlock*, 16>;
  bool leads_to_lanes(const llvm::CallInst& call) const;
  BlockSet where_lanes_part() const;
  const llvm::CallInst* look_behind_barriers();

  llvm::Module& module_;
  const KernelInfo& info_;
  llvm::Function& kernel_;
  FunctionSet of_lanes_, of_barriers_;  // which lead to operations across lanes, to threadgroup barriers
  BlockSet behind_barriers_;            // of the kernel, where functions have some
  MaskedFunctions masked_;
};

}  // namespace metalloid::ir
