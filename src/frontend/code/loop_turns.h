// Tells code generation where the turns of loops end.
#pragma once

#include <clang/AST/ASTContext.h>
#include <llvm/IR/Module.h>

#include "frontend/session/session.h"

namespace metalloid::frontend {

//   for (...) {                  for (...) {
//     ...             ->           int turn __attribute__((cleanup(metalloid.turn_end)));
//   }                              ... }
//
// Whatever way a turn ends, by `continue`, `break`, `return` or its last statement, Clang generates one block for the
// end of the variable's scope that all of them lead through: the place where lanes of one turn are together for the
// last time (ir/passes/place_turn_ends.h). Loops get it that `break` or `return` leave, if threads may meet in them.
//
// Changes the bodies of the source's functions, and of library functions called there, before code is generated for
// them.
void mark_turn_ends(Session& session);

// In the generated code: calls of `metalloid.turn_end` lose the variable's address.
void write_turn_ends(llvm::Module& module);

}  // namespace metalloid::frontend
