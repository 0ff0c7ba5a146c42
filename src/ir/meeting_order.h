// Where the lanes of a simdgroup meet again after they went different ways: part of the contract of the IR, the same
// for every engine.
//
// Each lane runs its own program. At an operation across lanes, or at a simdgroup barrier, exactly those lanes take
// part that have come to this very place by the same calls and, in loops, wait there at the same time. Which of several
// places with waiting lanes is carried out first decides who still joins: the one that comes first in this order. Lanes
// that lag behind then reach the others before these go on. It follows that
//  - lanes meet again behind an if, a switch or a loop, at the first place that all ways lead to;
//  - lanes that leave a loop early wait behind it until the last one has left;
//  - in the arms of a branch, the lanes of each arm are among themselves.
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
