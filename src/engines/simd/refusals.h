// What the SIMD engine leaves to another engine.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <optional>

#include "engines/engine.h"
#include "engines/simd/shapes/lane_shapes.h"

namespace metalloid::engines::simd {

// Functions that are called through pointers, or in which threadgroups meet, and variables whose size only a thread
// knows.
std::optional<Remark> refusal(const llvm::Module& module, llvm::StringRef kernel);
// Threadgroup barriers that lanes of a simdgroup may come to without the others, who have one of their own to come to.
std::optional<Remark> refusal(llvm::Function& lane, const LaneShapes& shapes);

}  // namespace metalloid::engines::simd
