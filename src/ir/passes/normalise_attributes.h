// Makes function attributes say what MSL promises instead of what C++ does.
#pragma once

#include <string_view>

#include <llvm/IR/Module.h>

namespace metalloid::ir {

//  - Everything may be optimised (no optnone).
//  - Loops without end are legal and must stay: a host stops them by its timeout.
//  - Address zero is an ordinary bad address, whose use must crash, not undefined behaviour that deletes code.
//  - Nothing unwinds. CPU names and features are the engine's to choose.
//  - Attributes of variables and members ([[buffer(1)]] at a parameter of a function that is no kernel) leave no notes.
//  - Bools in memory may be neither 0 nor 1, and count by their lowest bit (copy_bools.h).
//  - The opaque operations have the memory effects, convergence and progress that operations.def states.
//  - Atomic accesses have the scope of the memory they go to: all threads of the threadgroup, or of the device.
void normalise_attributes(llvm::Module& module);

// The declaration of an operation (operations.def), with those attributes.
llvm::FunctionCallee declare_operation(llvm::Module& module, std::string_view name);

}  // namespace metalloid::ir
