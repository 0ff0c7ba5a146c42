#include "ir/support/lane_uniformity.h"

#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/Uniformity.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/TargetTransformInfoImpl.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Passes/PassBuilder.h>

#include <memory>
#include <string_view>

#include "ir/operations.h"

namespace metalloid::ir {
namespace {

using llvm::InstructionUniformity;

bool is_of_thread(Builtin builtin) {
  switch (builtin) {
    case Builtin::thread_position_in_grid:
    case Builtin::thread_position_in_threadgroup:
    case Builtin::thread_index_in_threadgroup:
    case Builtin::thread_index_in_simdgroup:
    case Builtin::thread_index_in_quadgroup:
    case Builtin::quadgroup_index_in_threadgroup:
    case Builtin::thread_index_in_grid: return true;
    default: return false;
  }
}

InstructionUniformity uniformity_of_argument(const llvm::Argument& argument, const KernelInfo& info) {
  const llvm::Function& function = *argument.getParent();
  if (function.getName() != llvm::StringRef(info.symbol) || function.arg_size() != info.arguments.size()) {
    return InstructionUniformity::NeverUniform;
  }
  const ArgumentInfo& described = info.arguments[argument.getArgNo()];
  return described.kind == ArgumentKind::builtin && is_of_thread(described.builtin)
             ? InstructionUniformity::NeverUniform
             : InstructionUniformity::Default;
}

InstructionUniformity uniformity_of_call(const llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee) return InstructionUniformity::NeverUniform;
  if (callee->isIntrinsic()) return InstructionUniformity::Default;
  const auto operation = parse_cross_lane(std::string_view(callee->getName()));
  if (!operation || operation->group == LaneGroup::quad) return InstructionUniformity::NeverUniform;
  switch (operation->operation) {
    case CrossLane::sum:
    case CrossLane::product:
    case CrossLane::min:
    case CrossLane::max:
    case CrossLane::bit_and:
    case CrossLane::bit_or:
    case CrossLane::bit_xor:
    case CrossLane::broadcast_first:
    case CrossLane::ballot: return InstructionUniformity::AlwaysUniform;
    default: return InstructionUniformity::NeverUniform;
  }
}

class LaneTarget final : public llvm::TargetTransformInfoImplBase {
 public:
  LaneTarget(const llvm::DataLayout& layout, const KernelInfo& info)
      : TargetTransformInfoImplBase(layout), info_(info) {}
  bool hasBranchDivergence(const llvm::Function* /*function*/) const override { return true; }
  InstructionUniformity getInstructionUniformity(const llvm::Value* value) const override {
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(value)) return uniformity_of_argument(*argument, info_);
    if (const auto* call = llvm::dyn_cast<llvm::CallInst>(value)) return uniformity_of_call(*call);
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(value)) {
      return load->isSimple() ? InstructionUniformity::Default : InstructionUniformity::NeverUniform;
    }
    const bool is_own = llvm::isa<llvm::AllocaInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(value);
    return is_own ? InstructionUniformity::NeverUniform : InstructionUniformity::Default;
  }

 private:
  const KernelInfo& info_;
};

}  // namespace

LaneUniformity::LaneUniformity(llvm::Function& function, const KernelInfo& info) {
  analyses_.registerPass([&info] {
    return llvm::TargetIRAnalysis([&info](const llvm::Function& analysed) {
      return llvm::TargetTransformInfo(std::make_unique<const LaneTarget>(analysed.getDataLayout(), info));
    });
  });
  llvm::PassBuilder().registerFunctionAnalyses(analyses_);
  uniformity_ = &analyses_.getResult<llvm::UniformityInfoAnalysis>(function);
}

}  // namespace metalloid::ir
