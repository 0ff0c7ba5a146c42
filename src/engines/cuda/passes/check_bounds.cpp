#include "engines/cuda/passes/check_bounds.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <cstddef>
#include <optional>
#include <utility>

#include "engines/cuda/kernel_abi.h"
#include "engines/cuda/lanes/products.h"
#include "ir/bounds/check_bounds.h"
#include "ir/bounds/hoist_checks.h"
#include "ir/bounds/kernel_memory.h"
#include "ir/bounds/tile_accesses.h"
#include "ir/support/pass_managers.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;

class Arguments final : public ir::KernelMemory {
 public:
  explicit Arguments(const Entry& entry) : entry_(entry) {}

  std::optional<unsigned> find(Value& root) const override {
    const llvm::CallInst* call = as_argument(root);
    if (!call) return std::nullopt;
    return static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(call->getArgOperand(0))->getZExtValue());
  }

  Extent extent_of(unsigned argument) override {
    if (const auto found = extents_.find(argument); found != extents_.end()) return found->second;
    llvm::BasicBlock& first = entry_.function->getEntryBlock();
    llvm::IRBuilder<> builder(&first, first.getFirstNonPHIOrDbgOrAlloca());
    Value* bytes = load_from_slot(builder, entry_, argument, offsetof(ArgumentSlot, bytes), builder.getInt64Ty());
    Value* front = builder.CreateConstInBoundsGEP1_64(
        builder.getInt8Ty(), entry_.parameters,
        sizeof(LaunchHead) + argument * sizeof(ArgumentSlot) + offsetof(ArgumentSlot, front));
    return extents_[argument] = {bytes, front};
  }

  Numbered of_number(llvm::IRBuilderBase& builder, Value* number) override {
    llvm::Type* word = builder.getInt64Ty();
    const auto place = [&](Value* base, std::size_t offset) {
      return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset);
    };
    Value* slot = builder.CreateInBoundsGEP(llvm::ArrayType::get(builder.getInt8Ty(), sizeof(ArgumentSlot)),
                                            place(entry_.parameters, sizeof(LaunchHead)), number);
    Value* bytes = builder.CreateAlignedLoad(word, place(slot, offsetof(ArgumentSlot, bytes)), llvm::Align(8));
    Value* address = builder.CreateAlignedLoad(word, place(slot, offsetof(ArgumentSlot, address)), llvm::Align(8));
    Value* own = builder.CreateAdd(builder.CreatePtrToInt(entry_.parameters, word), address);
    Value* is_own = builder.CreateICmpULT(address, builder.getInt64(most_parameter_bytes));
    return {{bytes, place(slot, offsetof(ArgumentSlot, front))}, builder.CreateSelect(is_own, own, address)};
  }

  bool is_of_start(llvm::LoadInst& load) const override {
    return load.getPointerOperand()->stripInBoundsOffsets() == entry_.parameters;
  }

  llvm::SmallVector<ir::Access, 3> other_accesses_of(llvm::Instruction& instruction) const override {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    return call && call->getCalledFunction() ? ir::tile_accesses(*call) : llvm::SmallVector<ir::Access, 3>();
  }

 private:
  const Entry& entry_;
  llvm::DenseMap<unsigned, Extent> extents_;
};

}  // namespace

void check_bounds(const Entry& entry, const KernelInfo& info) {
  ir::PassManagers managers;
  Arguments arguments(entry);
  ir::check_bounds(*entry.function, info, arguments, managers.functions);
}

void hoist_checks(const Entry& entry, unsigned turns_at_once) {
  const auto is_of_whole_simdgroups = [](const llvm::CallBase& call) {
    if (as_product(call)) return true;
    const auto* all = llvm::dyn_cast_or_null<llvm::ConstantInt>(call.arg_empty() ? nullptr : call.getArgOperand(0));
    switch (call.getIntrinsicID()) {
      case llvm::Intrinsic::nvvm_barrier_cta_sync_all: return true;
      case llvm::Intrinsic::nvvm_bar_warp_sync:
      case llvm::Intrinsic::nvvm_shfl_sync_idx_i32:
      case llvm::Intrinsic::nvvm_shfl_sync_bfly_i32:
      case llvm::Intrinsic::nvvm_shfl_sync_up_i32:
      case llvm::Intrinsic::nvvm_vote_ballot_sync: return all && all->isMinusOne();
      default: return false;
    }
  };
  const auto holds_for_all = [](llvm::IRBuilderBase& builder, Value* condition) -> Value* {
    return builder.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_all_sync,
                                   {builder.getInt32(~std::uint32_t{0}), condition});
  };
  const ir::LoopMeetings meetings{is_of_whole_simdgroups, holds_for_all};
  ir::hoist_checks(*entry.function, turns_at_once, entry.simdgroups_are_whole ? &meetings : nullptr);
}

}  // namespace metalloid::engines::cuda
