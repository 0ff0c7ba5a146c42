// Whether and where a module's threads meet.
#pragma once

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

namespace metalloid::ir {

// The first call of a barrier, cross-lane or matrix operation, or null.
const llvm::CallBase* first_meeting(const llvm::Module& module);

// Also true where a function that is called through a pointer asks for its thread: only an engine that keeps threads
// apart can answer.
bool threads_meet(const llvm::Module& module);

}  // namespace metalloid::ir
