// Simdgroups stop at threadgroup barriers.
#pragma once

#include <cstddef>
#include <cstdint>

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace metalloid::engines::simd {

// A simdgroup that comes to a barrier says so (simdgroup_abi.h) and returns; it is resumed when all have come. Runs
// behind all optimisation. Returns the bytes of a frame.
//
// A loop around a barrier is in a simdgroup's start and in what is resumed. Where these have more than
// `most_made_twice` instructions in common, the simdgroup stops in front of everything, and the start has none of them.
std::uint32_t split_at_barriers(llvm::Module& module, llvm::Function& simdgroup, llvm::TargetMachine& machine,
                                std::size_t most_made_twice = 1000);

}  // namespace metalloid::engines::simd
