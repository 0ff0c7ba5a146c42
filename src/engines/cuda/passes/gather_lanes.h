// In functions that call themselves: operations across lanes wait for their lanes in memory.
#pragma once

#include <llvm/ADT/ArrayRef.h>

#include "engines/cuda/passes/lower_arguments.h"

namespace metalloid::engines::cuda {

//   %v = metalloid.masked.X(%mask, ...)    ->    waiting[thread] = %mask
//                                                until waiting[l] == %mask for each lane l of %mask: look again
//                                                bar.warp.sync %mask; waiting[thread] = 0; bar.warp.sync %mask
//                                                %v = metalloid.masked.X(%mask, ...)
//
// Lanes that wait at one instruction count as together for the GPU, whatever mask each waits with. Lanes that skipped a
// call may come to the same instruction of the function as those that made it, one call apart, and go on without them:
// on an H200 a tree of calls ended in lanes that waited for each other for ever (driver 580.159, 2026-11-27; the same
// PTX by CUDA 13.0's ptxas ended, so that it hangs on how code is scheduled). Here no lane comes to the instruction
// until all of its mask have said that they do.
//
// `functions`: the kernel, and those that call themselves. Lanes that wait for one that failed end, too.
void gather_lanes(llvm::Module& module, llvm::ArrayRef<Entry> functions);

}  // namespace metalloid::engines::cuda
