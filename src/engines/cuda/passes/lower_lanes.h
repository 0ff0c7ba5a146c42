// What lanes do together (ir/masked_operations.h), by the GPU's operations of a warp; barriers and fences.
#pragma once

#include <llvm/IR/Module.h>

#include "engines/cuda/passes/lower_arguments.h"

namespace metalloid::engines::cuda {

void lower_lanes(llvm::Module& module, const Entry& entry);

}  // namespace metalloid::engines::cuda
