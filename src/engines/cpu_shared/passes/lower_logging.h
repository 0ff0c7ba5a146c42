// Messages (ir/operations.def) become calls of the engine.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace metalloid::engines::cpu {

//   call metalloid.log(thread, level, subsystem, category, format, arguments, count)
//   call metalloid_log(state, thread, level, "file.metal:12", subsystem, category, format, arguments, count)
//
// Whether there are any.
bool lower_logging(llvm::Module& module, llvm::Function& entry);

}  // namespace metalloid::engines::cpu
