// Constants that hold addresses of threadgroup memory: where that lies is known of a threadgroup that runs, and not
// before. Each thread has such a constant as a variable of its own (thread_variables.h), which it fills first:
//
//   @rows = constant [2 x ptr addrspace(3)]   ->   @rows = external global [2 x ptr addrspace(3)], !metalloid.thread
//             [ptr addrspace(3) @t, ...]           define void @kernel(...) {
//                                                    store ptr addrspace(3) @t, ptr @rows ...
#pragma once

#include "ir/module.h"

namespace metalloid::ir {

void place_threadgroup_addresses(KernelModule& kernel);

}  // namespace metalloid::ir
