// How far an address moves from one threadgroup to the next along x.
#pragma once

#include <llvm/IR/Function.h>

#include <cstddef>
#include <cstdint>

namespace metalloid::engines::simd {

enum class ThreadgroupStep : std::uint8_t {
  none,     // it stays
  near,     // by what the threads of a row cover, so that threadgroups one after the other write on where one ended
  far,      // by a distance that the kernel is given, as from row to row of a matrix
  unknown,  // it moves within the threadgroup, or in other ways
};

// By the form of the computation: wrapping is not considered, as nothing but speed may depend on the answer. The
// function's first parameter is the ThreadgroupState.
ThreadgroupStep threadgroup_step(const llvm::Value& address);

// Whether a value is what the ThreadgroupState has at that offset, loaded alone or with its neighbours. The state is
// the first parameter of the value's function.
bool is_of_state(const llvm::Value& value, std::size_t offset);

}  // namespace metalloid::engines::simd
