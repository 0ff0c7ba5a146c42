// Variables of the thread that nothing certainly writes before they are read, or before their address goes anywhere,
// are named, and so stay in memory until follow_undefined.h has looked at all of the kernel:
//
//   %sum = alloca float           ->   %sum = alloca float
//                                      call void @metalloid.check.variable(ptr %sum)
#pragma once

#include <llvm/IR/Function.h>

namespace metalloid::checker {

void mark_variables(llvm::Function& function);

}  // namespace metalloid::checker
