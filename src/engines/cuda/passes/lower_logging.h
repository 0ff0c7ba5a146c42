// Messages (ir/operations.def) go to memory of the GPU, where the host finds them when the kernel is done.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Module.h>

#include "engines/cuda/passes/lower_arguments.h"

namespace metalloid::engines::cuda {

//   call metalloid.log(thread, level, subsystem, category, format, arguments, count)
// ->
//   %at = atomic add of the bytes that it takes to Report::log's `used`
//   if (there is room) { write a LogRecord and the arguments at %at } else { atomic add 1 to `lost` }
//
// Whether there are any.
bool lower_logging(llvm::Module& module, llvm::ArrayRef<Entry> functions);

}  // namespace metalloid::engines::cuda
