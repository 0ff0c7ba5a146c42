// Accesses outside of a thread's own variables, in modules that go on there (CompileOptions::thread_overruns).
//
//   %v = load float, %a + 4 * %i     ->     %v = 4 * %i <= bytes of a - 4 ? load float, %a + 4 * %i : 0
//
// On Apple's GPUs such an access comes to memory of the thread's own, and programs have it without knowing.
#pragma once

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "ir/bounds/accesses.h"

namespace metalloid::ir {

// Noted in the module. The checker takes that back: it reports them all the same.
void ignore_thread_overruns(llvm::Module& module);
void report_thread_overruns(llvm::Module& module);

// Those of one function that need a check.
class AccessesToLeaveOut {
 public:
  explicit AccessesToLeaveOut(const llvm::Module& module);

  // Whether it is one to leave out where it lies outside: then it needs no check. Addresses that come from elsewhere
  // are none, nor are an engine's own operations.
  bool take(const Access& access, llvm::Value* offset, llvm::Value* available);

  // Branches around all that were taken.
  void leave_out();

 private:
  struct Place {
    llvm::Value *offset, *bytes, *available;
  };
  const bool is_wanted_;
  llvm::MapVector<llvm::Instruction*, llvm::SmallVector<Place, 2>> accesses_;
};

}  // namespace metalloid::ir
