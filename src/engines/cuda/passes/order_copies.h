// order_copies
//
//   lane i: tile[f(i)] = a[g(i)]     ->     lane i: tile[f(p(i))] = a[g(p(i))]
//   barrier                                 barrier
//
// What a simdgroup copies to threadgroup memory is the same whichever lane copies which piece. The GPU writes pieces of
// 16 bytes for eight lanes at a time, which waits where two of them lie in the same banks: the order of lanes that this
// pass chooses for each copy has few such pairs. The addresses' low bits come of the lane's number in ways that are
// evaluated lane by lane, whatever they are.
//
// Of code without checks, since a check is about what its own thread does.
#pragma once

#include "engines/cuda/passes/lower_arguments.h"

namespace metalloid::engines::cuda {

void order_copies(const Entry& entry);

}  // namespace metalloid::engines::cuda
