// From a lane's program to the function of its simdgroup.
#pragma once

#include <llvm/IR/Function.h>

#include <vector>

#include "engines/engine.h"

namespace metalloid::engines::simd {

// `lane` has its lanes in place (lane_positions.h) and simple control flow (prepare_lane.h). The function that comes
// beside it is for whole simdgroups, or else takes how many lanes there are as its last parameter. Null if the engine
// leaves the kernel to another one; `remarks` says why, or what costs speed.
llvm::Function* widen_lane(llvm::Function& lane, bool is_whole, std::vector<Remark>& remarks);

}  // namespace metalloid::engines::simd
