// Several threadgroups in one call.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/Target/TargetMachine.h>

namespace metalloid::engines::simd {

//   void metalloid_run_threadgroup(state)
//     what is computed from the position in the grid
//     return
// ->
//   void metalloid_run_threadgroup(state)
//     x = state->threadgroup_position_in_grid[0], last = x + state->threadgroups_behind
//     loop:
//       what is computed from (x, y, z)
//       if (x == last) return
//       state->threadgroup_position_in_grid[0] = x = x + 1
//
// Small threadgroups take less time than their beginnings: what is the same for all, as arguments and constants, is in
// front of the loop. Of kernels without barriers, behind all that asks how addresses follow from the position.
//
// Returns false, and changes nothing, for programs that are long or have loops of their own, and where the position is
// read in ways that are not known.
bool run_threadgroups(llvm::Function& entry, llvm::TargetMachine* machine = nullptr);

}  // namespace metalloid::engines::simd
