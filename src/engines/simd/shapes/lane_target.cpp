#include "engines/simd/shapes/lane_target.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/TargetTransformInfoImpl.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include <memory>
#include <string>

#include "engines/cpu_shared/passes/lower_arguments.h"
#include "engines/simd/shapes/parameter_shapes.h"
#include "ir/operations.h"
#include "ir/support/memory_alias.h"
#include "metalloid/reflection.h"

namespace metalloid::engines::simd {
namespace {

using llvm::InstructionUniformity;

InstructionUniformity uniformity_of_call(const llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee) return InstructionUniformity::NeverUniform;
  const std::string_view name = callee->getName();
  if (name == lane_number_name || name == cpu::index_name) return InstructionUniformity::NeverUniform;
  for (const std::string_view position : cpu::position_names) {
    if (name == position) return InstructionUniformity::NeverUniform;
  }
  if (const auto operation = ir::parse_cross_lane(name)) {
    if (operation->group == ir::LaneGroup::quad) return InstructionUniformity::NeverUniform;
    switch (operation->operation) {
      case ir::CrossLane::sum:
      case ir::CrossLane::product:
      case ir::CrossLane::min:
      case ir::CrossLane::max:
      case ir::CrossLane::bit_and:
      case ir::CrossLane::bit_or:
      case ir::CrossLane::bit_xor:
      case ir::CrossLane::broadcast_first:
      case ir::CrossLane::ballot: return InstructionUniformity::AlwaysUniform;
      default: return InstructionUniformity::NeverUniform;
    }
  }
  if (ir::parse_matrix_operation(name)) return InstructionUniformity::NeverUniform;
  if (callee->isIntrinsic()) return InstructionUniformity::Default;
  return InstructionUniformity::NeverUniform;
}

// Whether a place in a variable of the lane is computed anew in turns of the loop.
bool indexes_variables(const llvm::Loop& loop) {
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
      if (!address || !llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(address))) continue;
      for (const llvm::Value* index : address->indices()) {
        if (!loop.isLoopInvariant(index)) return true;
      }
    }
  }
  return false;
}

class LaneTarget final : public llvm::TargetTransformInfoImplCRTPBase<LaneTarget> {
 public:
  explicit LaneTarget(const llvm::DataLayout& layout) : TargetTransformInfoImplCRTPBase(layout) {}
  bool hasBranchDivergence(const llvm::Function* /*function*/) const override { return true; }
  unsigned getLoadStoreVecRegBitWidth(unsigned /*space*/) const override { return 128; }
  bool allowsMisalignedMemoryAccesses(llvm::LLVMContext& /*context*/, unsigned /*bits*/, unsigned /*space*/,
                                      llvm::Align /*alignment*/, unsigned* speed) const override {
    if (speed) *speed = 1;
    return true;
  }
  // Loops around a lane's own arrays are worth more code: once indices are constants, elements become values.
  void getUnrollingPreferences(llvm::Loop* loop, llvm::ScalarEvolution& /*evolution*/,
                               llvm::TargetTransformInfo::UnrollingPreferences& preferences,
                               llvm::OptimizationRemarkEmitter* /*remarks*/) const override {
    preferences.Threshold = indexes_variables(*loop) ? 2000 : 400;
  }
  InstructionUniformity getInstructionUniformity(const llvm::Value* value) const override {
    return uniformity_of(*value);
  }
};

constexpr const char* step_width_name = "metalloid.step_width";

}  // namespace

unsigned step_width(const llvm::Function& function) {
  return static_cast<unsigned>(function.getFnAttributeAsParsedInteger(step_width_name, simdgroup_width));
}

void set_step_width(llvm::Function& function, unsigned lanes) {
  function.addFnAttr(step_width_name, std::to_string(lanes));
}

InstructionUniformity uniformity_of(const llvm::Value& value) {
  if (const auto* parameter = llvm::dyn_cast<llvm::Argument>(&value)) {
    const bool is_uniform = shape_of_parameter(*parameter).shape.kind == Shape::Kind::uniform;
    return is_uniform ? InstructionUniformity::Default : InstructionUniformity::NeverUniform;
  }
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&value)) return uniformity_of_call(*call);
  if (const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&value);
      variable && variable->hasMetadata(of_simdgroup)) {
    return InstructionUniformity::Default;
  }
  if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
      instruction && takes_common_tag(*instruction)) {
    return InstructionUniformity::AlwaysUniform;
  }
  // Each lane has its own variables, and changes of one place happen one after the other.
  if (llvm::isa<llvm::AllocaInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(value)) {
    return InstructionUniformity::NeverUniform;
  }
  return InstructionUniformity::Default;
}

LaneManagers::LaneManagers() {
  functions.registerPass([] {
    return llvm::TargetIRAnalysis([](const llvm::Function& function) {
      return llvm::TargetTransformInfo(std::make_unique<LaneTarget>(function.getParent()->getDataLayout()));
    });
  });
  ir::add_memory_alias(builder, functions);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
}

}  // namespace metalloid::engines::simd
