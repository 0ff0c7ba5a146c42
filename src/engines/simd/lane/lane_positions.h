// Which threads the lanes of a simdgroup are.
#pragma once

#include <llvm/IR/Function.h>

#include <cstdint>

namespace metalloid::engines::simd {

enum class Arrangement : std::uint8_t {
  row,        // all in one row of the threadgroup: only x differs, by one from lane to lane
  half_rows,  // two rows of 16 threads
  column,     // rows are one thread each: only y differs, by one from lane to lane
  anywhere,   // the simdgroup goes on in the next row where one ends
  alone       // one thread is all of its threadgroup
};

// Whether the program asks for more than an index and x.
bool asks_for_rows(const llvm::Function& lane);

// A copy of the lane's program for Arrangement::row. Its last three parameters are the position of lane 0's thread in
// the threadgroup, whose x is a multiple of 32.
llvm::Function& copy_for_rows(llvm::Function& lane);

// Replaces questions for positions (cpu_shared/passes/lower_arguments.h) in a lane's program, whose second parameter is
// the index of lane 0's thread in its threadgroup, a multiple of 32.
void place_lanes(llvm::Function& lane, Arrangement arrangement);

}  // namespace metalloid::engines::simd
