// How many lanes of a simdgroup run in step.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/Function.h>

#include "metalloid/reflection.h"

namespace metalloid::engines::simd {

// From how many registers on programs run with fewer lanes: those that the results of all instructions take if 16 lanes
// run in step.
struct WidthLimits {
  unsigned of_64_bits = 1500;       // 16 lanes, if a third of the results are integers of 64 bits
  unsigned long_of_64_bits = 5000;  // 8 lanes, of these, if their threads do not meet
  unsigned of_any = 3000;           // 16 lanes
  unsigned long_of_any = 10'000;    // 8 lanes, the same, where they fill a register
};

// Says for a kernel's functions how many lanes run in step (shapes/lane_target.h): all 32, but of large programs fewer.
//
// A value of 64 bits is 4 registers of AVX-512 for 32 lanes, so that 8 of them fill all there are. A long program of
// such values moves most of them to memory and back, and as each of its instructions becomes four, LLVM's code
// generator takes half a minute for the largest. With 16 lanes both are half of it, and no instruction does less than a
// register's work with 8.
//
// Of long programs of 32 bits, functions that stay calls hand on as many registers as their parameters have. 16 lanes
// take half of the code, and as long to run with AVX-512, or 0.65 to 0.8 of the time with AVX2, which has half as many
// registers. Straight code without calls may take 1.07 of it with AVX-512.
//
// Where registers are shorter programs are longer: with AVX2 half the instructions take as many of them.
//
// What the source calls a simdgroup stays 32 threads: its lanes run as two or four groups, one behind the other, which
// is what threads do that have nothing to do with each other between barriers of the threadgroup. So it is for kernels
// without any operation, or barrier, of the simdgroup's, and that do not ask which thread of it they are: those might
// count on their neighbours without a barrier, which hardware forgives.
// `register_bits`: of a register for vectors.
void choose_width(llvm::ArrayRef<llvm::Function*> program, const KernelInfo& kernel, bool threads_meet,
                  unsigned register_bits, const WidthLimits& limits = {});

}  // namespace metalloid::engines::simd
