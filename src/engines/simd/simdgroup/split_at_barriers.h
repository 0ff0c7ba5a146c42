// Simdgroups stop at threadgroup barriers.
#pragma once

#include <cstdint>

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace metalloid::engines::simd {

// A simdgroup that comes to a barrier says so (simdgroup_abi.h) and returns; it is resumed when all have come. Runs
// behind all optimisation. Returns the bytes of a frame. What runs up to the first barrier and also behind one, as the
// beginning of a loop's turns does, is there twice, unless it has more than `most_repeated` instructions and is a fifth
// of the program.
std::uint32_t split_at_barriers(llvm::Module& module, llvm::Function& simdgroup, llvm::TargetMachine& machine,
                                unsigned most_repeated = 1000);

}  // namespace metalloid::engines::simd
