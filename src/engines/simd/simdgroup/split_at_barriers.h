// Simdgroups stop at threadgroup barriers.
#pragma once

#include <cstdint>

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace metalloid::engines::simd {

// A simdgroup that comes to a barrier says so (simdgroup_abi.h) and returns; it is resumed when all have come. Runs
// behind all optimisation. Returns the bytes of a frame.
std::uint32_t split_at_barriers(llvm::Module& module, llvm::Function& simdgroup, llvm::TargetMachine& machine);

}  // namespace metalloid::engines::simd
