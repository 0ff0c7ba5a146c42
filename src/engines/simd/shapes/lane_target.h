// What LLVM's analyses are told of a lane's program (cpu_shared/passes/lower_arguments.h): that its branches may
// diverge, and which values differ from lane to lane.
#pragma once

#include <llvm/ADT/Uniformity.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Value.h>
#include <llvm/Passes/PassBuilder.h>

#include <string_view>

namespace metalloid::engines::simd {

// u32 (): the lane within its simdgroup, 0 to 31, or among those that run in step. Nobody defines it.
inline constexpr std::string_view lane_number_name = "metalloid_lane_number";
// Metadata of variables that hold those of all lanes (interleave_variables in lane/prepare_lane.h).
inline constexpr const char* of_simdgroup = "metalloid.of_simdgroup";

// How many lanes of a program, or of a function that it calls, run in step: a power of 2, 32 if nobody has said
// otherwise (lane/choose_width.h).
unsigned step_width(const llvm::Function& function);
void set_step_width(llvm::Function& function, unsigned lanes);

// Whether all lanes that execute an instruction together get one result.
llvm::InstructionUniformity uniformity_of(const llvm::Value& value);

// LLVM's analysis managers for programs of lanes.
class LaneManagers {
 public:
  LaneManagers();

  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
};

}  // namespace metalloid::engines::simd
