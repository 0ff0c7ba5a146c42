// Keeps the turns of a loop apart where lanes meet in some of its branches.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::ir {

//   loop:                                loop:
//     br %c, label %a, label %b            br %c, label %a, label %b
//   a:                                   a:
//     simd_sum ...                         simd_sum ...
//     br label %next               ->      br label %next
//   b: ...                               b: ...
//   next:                                next:
//     br %d, label %loop, label %end       br %d, label %join, label %end
//                                        join:
//                                          metalloid.turn_end()
//                                          br label %loop
//
// Lanes at the first place in the code go on first (meeting_order.h). Without the join a lane that is done with its
// branch would begin the next turn and come to `a` together with lanes that are still there in this turn. At the join,
// which is the last place in the loop, it waits for them.
//
// A loop whose last meeting lies on every way round it needs no join: that meeting is one. Nor do threadgroup barriers,
// which all threads of a threadgroup come to alike.
//
// Ends of turns (place_turn_ends.h) go where nobody meets any more.
void join_loops(llvm::Module& module);

}  // namespace metalloid::ir
