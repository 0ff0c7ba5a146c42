// Accesses of a lane to places side by side, with accesses to other arguments between them that might be the same
// memory.
#pragma once

#include <llvm/IR/Function.h>

#include "metalloid/reflection.h"

namespace metalloid::engines::simd {

//   out[2 * i] = a[2 * i];  out[2 * i + 1] = a[2 * i + 1];
// ->
//   if (out - a is not 1)  { x = a[2 * i]; y = a[2 * i + 1]; out[2 * i] = x; out[2 * i + 1] = y; }
//   else                   as it was
//
// so that join_accesses finds neighbours. An argument may be bound twice (a sum in place), and what arguments have in
// common is not known before a dispatch; but whether a write of a lane meets one of its own later reads is seen from
// the distance of the arguments where both indices are a constant apart; else all of their memory has to be. What other
// lanes write in between is their race.
void read_before_writing(llvm::Function& lane, const KernelInfo& info);

}  // namespace metalloid::engines::simd
