// Who meets, found out while the kernel runs.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "ir/passes/meeting_functions.h"

namespace metalloid::ir {

// Blocks that lanes enter together, and the block behind them in which they are together again; null: the kernel ends.
// Of a function that stays a call, its last one at the latest.
struct RoundsRegion {
  llvm::SmallPtrSet<llvm::BasicBlock*, 16> blocks;
  llvm::BasicBlock* end = nullptr;
};

// Each meeting of a region becomes a place to which lanes come through one block, `round`, in which all of them are:
//
//     ...                               ...
//     %s = simd_sum %x                  br label %round, place 3
//     ...                             round:
//                                       %place = phi ...
//                                       %first = lanes.least(%present, %place)
//                                       %is_here = icmp eq %place, %first
//                                ->     %lanes = lanes.where(%present, %is_here)
//                                       switch %first, [3, label %come.3] ...
//                                     come.3:
//                                       br %is_here, label %meet.3, label %round
//                                     meet.3:
//                                       %s = masked simd_sum %lanes, %x
//                                       ...
//
// `present` is the lanes that enter. `meetings` come in the order of their places (meeting_order.h), so that lanes that
// lag behind reach the others before these go on. Threadgroup barriers lie behind all other places, and are one, to
// which all lanes come; those that are at the end then are back in the round at once; a region that has some is the
// whole kernel. The end is the last place; there lanes wait until all have come.
//
// Lanes of the same place go on, and so come to the next round; all others go there at once. So all lanes do the same
// operations on masks in the same order, whatever way they took between them. Valid for any graph of blocks. It costs
// two operations for each meeting, and values that are needed behind one pass through the round.
void meet_in_rounds(llvm::Function& kernel, llvm::ArrayRef<llvm::CallInst*> meetings, llvm::Value* present,
                    const RoundsRegion& region, const MaskedFunctions& functions);

// The operations on masks (masked_operations.h).
llvm::Value* lanes_present(llvm::IRBuilderBase& builder);
llvm::Value* lanes_where(llvm::IRBuilderBase& builder, llvm::Value* mask, llvm::Value* holds);
// In place of a meeting, its masked form, or a call that says the mask; nothing in place of an end of a turn.
void put_mask(llvm::CallInst& meeting, llvm::Value* mask, const MaskedFunctions& functions);

}  // namespace metalloid::ir
