#include "engines/cuda/passes/threadgroup_uniformity.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/Uniformity.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/TargetTransformInfoImpl.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Passes/PassBuilder.h>

#include <memory>

#include "engines/cuda/passes/lower_arguments.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::InstructionUniformity;
namespace intrinsic = llvm::Intrinsic;

bool is_of_threadgroup(const llvm::CallInst& call) {
  if (as_argument(const_cast<llvm::CallInst&>(call))) return true;
  switch (call.getIntrinsicID()) {
    case intrinsic::nvvm_read_ptx_sreg_ctaid_x:
    case intrinsic::nvvm_read_ptx_sreg_ctaid_y:
    case intrinsic::nvvm_read_ptx_sreg_ctaid_z:
    case intrinsic::nvvm_read_ptx_sreg_nctaid_x:
    case intrinsic::nvvm_read_ptx_sreg_nctaid_y:
    case intrinsic::nvvm_read_ptx_sreg_nctaid_z:
    case intrinsic::nvvm_read_ptx_sreg_ntid_x:
    case intrinsic::nvvm_read_ptx_sreg_ntid_y:
    case intrinsic::nvvm_read_ptx_sreg_ntid_z: return true;
    case intrinsic::not_intrinsic: return false;
    default:
      // Registers of the GPU have no operands.
      return call.doesNotAccessMemory() && !call.isConvergent() && call.arg_size() != 0;
  }
}

class ThreadgroupTarget final : public llvm::TargetTransformInfoImplBase {
 public:
  explicit ThreadgroupTarget(const llvm::DataLayout& layout) : TargetTransformInfoImplBase(layout) {}
  bool hasBranchDivergence(const llvm::Function* /*function*/) const override { return true; }
  InstructionUniformity getInstructionUniformity(const llvm::Value* value) const override {
    bool is_own = llvm::isa<llvm::AllocaInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(value);
    if (const auto* call = llvm::dyn_cast<llvm::CallInst>(value)) is_own = !is_of_threadgroup(*call);
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(value)) is_own = !load->isSimple();
    return is_own ? InstructionUniformity::NeverUniform : InstructionUniformity::Default;
  }
};

}  // namespace

ThreadgroupUniformity::ThreadgroupUniformity(llvm::Function& function) {
  analyses_.registerPass([] {
    return llvm::TargetIRAnalysis([](const llvm::Function& analysed) {
      return llvm::TargetTransformInfo(std::make_unique<const ThreadgroupTarget>(analysed.getDataLayout()));
    });
  });
  llvm::PassBuilder().registerFunctionAnalyses(analyses_);
  uniformity_ = &analyses_.getResult<llvm::UniformityInfoAnalysis>(function);

  // From where threads part to where all of them must come together.
  const auto& ends = analyses_.getResult<llvm::PostDominatorTreeAnalysis>(function);
  for (llvm::BasicBlock& block : function) {
    if (!uniformity_->hasDivergentTerminator(block)) continue;
    const auto* node = ends.getNode(&block);
    const llvm::BasicBlock* meeting = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    llvm::SmallVector<const llvm::BasicBlock*, 8> left(llvm::successors(&block));
    llvm::SmallPtrSet<const llvm::BasicBlock*, 8> seen;
    while (!left.empty()) {
      const llvm::BasicBlock* next = left.pop_back_val();
      if (next == meeting || !seen.insert(next).second) continue;
      apart_.insert(next);
      left.append(llvm::succ_begin(next), llvm::succ_end(next));
    }
  }
}

}  // namespace metalloid::engines::cuda
