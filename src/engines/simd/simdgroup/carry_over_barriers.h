// What loops carry over barriers.
#pragma once

#include <llvm/IR/Function.h>

namespace metalloid::engines::simd {

// Vectors that go around a loop, in each turn of which the simdgroup stops, get one place in memory. Each value has a
// place of its own in a frame (split_at_barriers), so that the sum at the beginning of a turn and the one at its end
// would be two, and each turn would copy one to the other.
//
//   loop:                                              loop:
//     %sum = phi [ %none, %entry ], [ %more, %loop ]     barrier
//     barrier                                       ->   %sum = load %place          ; %none at first
//     %more = fadd %sum, %x                              %more = fadd %sum, %x
//     barrier                                            store %more, %place
//                                                        barrier
//
//   1. Blocks are split behind stops.
//   2. A phi of a loop's header becomes a variable if the block of its next value is the last one to want it in a turn.
//      It is written at the end of that block, and read at the beginning of those that want it or its next value.
void carry_over_barriers(llvm::Function& simdgroup);

}  // namespace metalloid::engines::simd
