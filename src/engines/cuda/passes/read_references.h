// Of constant references that a launch brings along, members come from its parameters, as CUDA's own arguments do.
#pragma once

#include "engines/cuda/passes/lower_arguments.h"
#include "metalloid/reflection.h"

namespace metalloid::engines::cuda {

//   %n = load i32, size             size: the constant reference of argument 2
// ->
//   %own = load i32, where the parameters have room for it
//   if (argument 2 lies elsewhere)  %far = load i32, its address
//   %n = phi %own, %far
//
// at the kernel's beginning: an address that may be either takes a read of memory, which the kernel's first accesses
// wait for. For what fits into a few registers, and hosts that bind what is aligned
// (ArgumentAlignment::of_their_types).
void read_references(const Entry& entry, const KernelInfo& info);

}  // namespace metalloid::engines::cuda
