// copy_ahead
//
//                                                 copy a[first] to ring[0], a[second] to ring[1]
//   for (...) {                                     for (...) {
//     tile = ring[turn % 3]                           wait for own copies for this turn
//     tile[...] = a[...]                 ->           barrier
//     barrier                                         copy the a[...] of two turns ahead, if there is one
//     ... tile ...                                    ... tile ...
//   }                                               }
//
// by the GPU's asynchronous copies (`cp.async`), which take no registers and lead around the first cache. Of loops that
// write to a ring (ring_tiles). Where addresses are not aligned to 16 bytes, threads copy by themselves. Others may go
// through the loop in the form that does not copy ahead: each writes its own pieces, and the barrier says when.
#pragma once

#include <llvm/IR/Function.h>

namespace metalloid::engines::cuda {

void copy_ahead(llvm::Function& function);

}  // namespace metalloid::engines::cuda
