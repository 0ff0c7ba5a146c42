// Lets kernels read and write at any address.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::engines::cpu {

// Kernels cast pointers to wider types freely (quantised blocks above all), and hosts bind arrays at any offset. CPUs
// load and store unaligned values at full speed, but only if the code does not promise an alignment: every access
// that is not atomic and not to a variable of the thread loses its promise.
void relax_alignment(llvm::Module& module);

}  // namespace metalloid::engines::cpu
