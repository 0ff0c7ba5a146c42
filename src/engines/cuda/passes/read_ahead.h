// read_ahead
//
//   for (i = 0; i < n; i += s) {              v = a[0]
//     tile[...] = a[i]                  ->    for (i = 0; i < n; i += s) {
//     barrier                                   tile[...] = v
//     ... tile ...                              barrier
//     barrier                                   v = a[i + s < n ? i + s : i]
//   }                                           ... tile ...
//                                               barrier
//                                             }
//
// of memory that is only read: what the next turn brings to threadgroup memory is on its way while this one computes.
// Only of loops whose checks of bounds were done in front of them.
#pragma once

#include <llvm/IR/Function.h>

namespace metalloid::engines::cuda {

void read_ahead(llvm::Function& function);

}  // namespace metalloid::engines::cuda
