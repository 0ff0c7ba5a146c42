// Code for GPUs that is compiled with the library: LLVM's bitcode of tiles/device.
#pragma once

#include <llvm/ADT/StringRef.h>

namespace metalloid::engines::cuda {

llvm::StringRef gpu_code();

}  // namespace metalloid::engines::cuda
