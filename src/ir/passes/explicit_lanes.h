// Names the lanes that take part in each operation across lanes (masked_operations.h), for engines whose hardware wants
// to be told: a GPU's warp operations. Other engines need not run it.
#pragma once

#include <llvm/IR/Instructions.h>

#include "ir/module.h"

namespace metalloid::ir {

// Who takes part is what meeting_order.h says; here it becomes code. `kernel` is specialised.
//
// 1. Branches that all lanes of a simdgroup take alike (support/lane_uniformity.h), or between which no lanes meet, do
//    not matter.
// 2. In an arm of another branch that leads to its end without turning back are the lanes that took it:
//
//      br %c, label %arm, label %end    ->    %lanes = metalloid.lanes.where(%present, %c)
//    arm:                                     br %c, label %arm, label %end
//      %s = simd_sum %x                     arm:
//                                             %s = masked simd_sum %lanes, %x
//
// 3. Where lanes leave a loop in different turns, or come to one place by different ways, nobody knows before the
//    kernel runs. There, up to where all lanes are together again, it goes on in rounds, in each of which the meeting
//    with waiting lanes that comes first is carried out (lane_rounds.h). So does a whole kernel whose lanes may come to
//    different threadgroup barriers, or return in front of one.
//
// 4. Functions that stay calls are told who calls them, and a call is a meeting, too (meeting_functions.h).
//
// Ends of turns have done their duty then and are gone. Where functions have threadgroup barriers, barriers have no
// masks: threads come to them for themselves. A meeting that cannot be carried out then, or in a function whose address
// is known, is returned, and nothing is changed; null otherwise.
const llvm::CallInst* explicit_lanes(KernelModule& kernel);

}  // namespace metalloid::ir
