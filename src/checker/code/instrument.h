// Puts calls of operations.h into a kernel, in front of what the checker watches. Runs on the code as the front end
// made it, so that what LLVM does later can neither make a race nor hide one.
//
//   %x = load float, ptr addrspace(1) %a
// ->
//   %b = call ptr addrspace(1) @metalloid.check.access.p1(ptr addrspace(1) %a, i64 4, i64 0, i32 flags)
//   %x = load float, ptr addrspace(1) %b
#pragma once

#include "ir/specialise.h"

namespace metalloid::checker {

struct InstrumentOptions {
  bool finite = false;  // NaN and infinity
  bool tells = true;    // also where what is undefined comes from: nobody asks when kernels are screened
};

ir::Instrumentation instrumentation(const InstrumentOptions& options);

}  // namespace metalloid::checker
