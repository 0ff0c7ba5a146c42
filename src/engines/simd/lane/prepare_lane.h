// A lane's program, made ready for widening.
#pragma once

#include <llvm/IR/Function.h>

#include "metalloid/reflection.h"

namespace metalloid::engines::simd {

// Scalar optimisation, while the code is 32 times as small, for a target whose branches diverge.
void optimise_lane(llvm::Function& lane);
// Short copies of memory become loads and stores.
void split_copies(llvm::Function& lane);
// cpu_shared/passes/check_bounds.h, for a lane's program.
void check_bounds(llvm::Function& lane, const KernelInfo& info);
// Accesses of a lane to places side by side become one of a vector: for lanes in step it is a row, sorted out in
// registers.
void join_accesses(llvm::Function& lane);
// Branches only, one return, simple loops whose values leave through phis and whose latches only branch: what
// BlockSchedule takes. Numbers that share no bit are added.
void simplify_control_flow(llvm::Function& lane);
// What loops read of memory is asked for some turns before.
void fetch_ahead(llvm::Function& lane);

// A variable of the lane becomes its place in a variable of the simdgroup:
//
//   %a = alloca [8 x float]             %all = alloca [8 * 32 x float]
//   load float, %a + i * 4              %a = %all + lane * 4
//                                       load float, %a + i * 4 * 32
//
// so that lanes with the same index touch a row. Accesses that are wider, copies and fills are made of elements.
// Variables whose addresses go elsewhere lie one behind the other instead, 32 as they were.
void interleave_variables(llvm::Function& lane);

}  // namespace metalloid::engines::simd
