// Where the lanes of a simdgroup meet again after they went different ways: part of the contract of the IR, the same
// for every engine.
//
// In words of the source: exactly those lanes take part in an operation that came to this very place by the same calls,
// in the same turns of all loops around it. So
//  - lanes meet again behind an if, a switch or a loop, at the first place that all ways lead to;
//  - in the arms of a branch, the lanes of each arm are among themselves;
//  - a loop goes on with its next turn when all lanes that stay in it have done this one;
//  - what lanes do in front of `break` or `return` they do with those that leave in the same turn; then they wait
//    behind the loop until the last one has left.
//
// In words of a specialised module: each lane runs its own program. At an operation across lanes, a simdgroup barrier
// or an end of a turn (`metalloid.turn_end`), exactly those lanes take part that wait there at the same time. Which of
// several places with waiting lanes is carried out first decides who still joins: the one that comes first in this
// order. Lanes that lag behind then reach the others before these go on. Where this alone would mix lanes of different
// turns of a loop, the module has ends of turns: place_turn_ends.h puts them in front of exits, join_loops.h in front
// of the next turn. An engine that runs lanes in step and keeps all that come to an end of a turn together there needs
// to do nothing else for it.
//
// Threadgroup barriers wait for all threads that have not ended, wherever they are.
#pragma once

#include <llvm/IR/Function.h>

#include <vector>

namespace metalloid::ir {

// The function's blocks in the order of their places: reverse post order of the graph in which each loop is one node,
// and loop bodies likewise. (Plain reverse post order may put what follows a loop in front of part of its body.)
// Blocks that cannot be reached are left out.
std::vector<llvm::BasicBlock*> meeting_order(llvm::Function& function);

}  // namespace metalloid::ir
