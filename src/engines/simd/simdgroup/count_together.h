// Counters that lanes add to, one after the other, as vectors.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace metalloid::engines::simd {

//   %place = extractelement <32 x ptr> %places, i64 0            for each of 16 lanes, with one %number
//   %old = load i32, ptr %place
//   %new = add i32 %old, %number
//   store i32 %new, ptr %place
// ->
//   %old = gather of <16 x i32>
//   %before = lanes before each lane that have its place (vpconflict)
//   %new = %old + (%before + 1) * %number
//   scatter of %new                                               the last of a place's lanes is stored last
//
// Threadgroup memory is changed without atomic instructions (widening/lane_by_lane.cpp), and processors guess which of
// the stores before leads to a load. Where lanes count what they find, they guess wrong time and again: Zen 4 took 110
// ns for 32 lanes with 100 places, and 28 this way, whatever the places. For AMD's processors, which count conflicts in
// one instruction; Intel's have a program for it.
void count_together(llvm::Module& module, const llvm::TargetMachine& machine);

}  // namespace metalloid::engines::simd
