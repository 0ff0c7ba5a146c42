// Keeps what lanes do together on their way out of a loop in the turn in which they leave.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::ir {

//   for (...) {                           loop:
//     if (x) {                              br %x, label %way_out, label %rest
//       n = simd_sum(y);          ->      way_out:
//       break;                              simd_sum ...
//     }                                     br label %turn_end
//     rest                                rest: ...
//   }                                       br label %turn_end
//                                         turn_end:
//                                           %to = phi i32 [ 1, %way_out ], [ 0, %rest ]
//                                           metalloid.turn_end()
//                                           switch i32 %to, label %loop [ i32 1, label %behind ]
//
// The loop of LLVM has no `way_out` once code is simplified: only lanes that leave come there, and those that leave in
// different turns would meet. So the front end leaves `metalloid.turn_end` where a turn of a loop ends, on whatever way
// (frontend/code/loop_turns.h), and no pass copies an operation at which lanes meet or leads ways around it: all that
// a source does in a loop stays in the loop.
//
// This pass runs before any code is simplified. In each loop:
//  1. It finds the operations in front of an exit: an exit can be reached from them within the turn, and they do not
//     lie on every way round the loop. (If they do they stay in the loop anyway.) Ways are those that are possible:
//     what Clang stores into its variable for the way behind a cleanup is followed.
//  2. Where there are none, the front end's marks go: a meeting that orders nothing costs as much as any other.
//  3. Else the marks stay, and exits that are reached past none, as those of conditions, get one.
void place_turn_ends(llvm::Module& module);

}  // namespace metalloid::ir
