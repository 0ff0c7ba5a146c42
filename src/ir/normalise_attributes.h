// Makes function attributes say what MSL promises instead of what C++ does.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::ir {

//  - Everything may be optimised (no optnone).
//  - Loops without end are legal and must stay: a host stops them by its timeout.
//  - Address zero is an ordinary bad address, whose use must crash, not undefined behaviour that deletes code.
//  - Nothing unwinds. CPU names and features are the engine's to choose.
//  - The opaque operations (operations.h) touch no memory that a kernel can see, barriers excepted.
void normalise_attributes(llvm::Module& module);

}  // namespace metalloid::ir
