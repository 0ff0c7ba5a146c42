// Constants spread, also through calls, and what they make impossible goes: branches, calls, functions. All else stays
// as it is.
//
//   br i1 %wanted, label %a, label %b       ->       br label %b        ; a is gone
//
// LLVM's passes find out what is unreachable, but on their way merge accesses and delete variables, which an
// instrumentation (specialise.h) has yet to see. So they run on a copy:
//  1. Each block of the copy gets a marker that no pass may remove while the block can be reached.
//  2. The copy is optimised.
//  3. Blocks without a marker left are taken out of the original. Reads of function constants without a value that are
//     not left were needed by nothing; they go too.
//
// The original may do less afterwards than the copy could: what follows from a removed block is found by the passes
// that come later.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Module.h>

namespace metalloid::ir {

// Looks at each of these functions by itself.
void drop_dead_code(llvm::ArrayRef<llvm::Function*> functions);
// Looks at the whole module: constants spread through calls too. Functions that are called no more go.
void drop_dead_code(llvm::Module& module);

}  // namespace metalloid::ir
