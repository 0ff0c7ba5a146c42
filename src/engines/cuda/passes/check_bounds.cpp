#include "engines/cuda/passes/check_bounds.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "engines/cuda/kernel_abi.h"
#include "engines/cuda/lanes/products.h"
#include "ir/bounds/check_bounds.h"
#include "ir/bounds/hoist_checks.h"
#include "ir/bounds/kernel_memory.h"
#include "ir/bounds/lower_bounds_checks.h"
#include "ir/bounds/tile_accesses.h"
#include "ir/support/pass_managers.h"
#include "metalloid/error.h"
#include "support/address_spaces.h"

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
        builder.getInt8Ty(), entry_.function->getArg(0),
        sizeof(LaunchHead) + argument * sizeof(ArgumentSlot) + offsetof(ArgumentSlot, front));
    return extents_[argument] = {bytes, front};
  }

  // Pointers in functions that stay calls carry no numbers on a GPU.
  Numbered of_number(llvm::IRBuilderBase& /*builder*/, Value* /*number*/) override {
    throw Error(ErrorCode::internal, "an argument's number in an address");
  }

  bool is_of_start(llvm::LoadInst& load) const override {
    return load.getPointerOperand()->stripInBoundsOffsets() == entry_.function->getArg(0);
  }

  llvm::SmallVector<ir::Access, 3> other_accesses_of(llvm::Instruction& instruction) const override {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    return call && call->getCalledFunction() ? ir::tile_accesses(*call) : llvm::SmallVector<ir::Access, 3>();
  }

 private:
  const Entry& entry_;
  llvm::DenseMap<unsigned, Extent> extents_;
};

// The place where a thread that failed a check leaves its report.
class ReportWriter {
 public:
  explicit ReportWriter(const Entry& entry) : entry_(entry) {}

  // From the builder's place, which is the end of a block. `check`: the operands of a check.
  void report(llvm::IRBuilderBase& builder, llvm::CallInst& check) {
    if (!block_) make(builder);
    llvm::BasicBlock* from = builder.GetInsertBlock();
    Value* front = builder.CreateLoad(builder.getInt64Ty(), check.getArgOperand(3));
    const std::array<Value*, count> values = {
        check.getArgOperand(0), check.getArgOperand(1), check.getArgOperand(2), front,
        check.getArgOperand(4), check.getArgOperand(5), check.getArgOperand(6)};
    for (std::size_t i = 0; i < count; ++i) {
      Value* value = values[i];
      if (value->getType()->isPointerTy()) value = builder.CreatePtrToInt(value, builder.getInt64Ty());
      merged_[i]->addIncoming(value, from);
    }
    builder.CreateBr(block_);
  }

 private:
  static constexpr std::size_t count = 7;
  static constexpr std::array<std::size_t, count> places = {
      offsetof(Report, offset), offsetof(Report, bytes), offsetof(Report, available), offsetof(Report, front),
      offsetof(Report, what),   offsetof(Report, first), offsetof(Report, last)};

  void make(llvm::IRBuilderBase& outer) {
    llvm::LLVMContext& context = outer.getContext();
    block_ = llvm::BasicBlock::Create(context, "report", entry_.function);
    auto* write = llvm::BasicBlock::Create(context, "write_report", entry_.function);
    auto* end = llvm::BasicBlock::Create(context, "end_thread", entry_.function);
    llvm::IRBuilder<> builder(block_);
    for (llvm::PHINode*& merged : merged_) merged = builder.CreatePHI(builder.getInt64Ty(), 2);
    llvm::Type* pointer = builder.getPtrTy(device_space);
    Value* report = load_from_head(builder, entry_, offsetof(LaunchHead, report), pointer);
    const llvm::SyncScope::ID scope = context.getOrInsertSyncScopeID("device");
    Value* taken = builder.CreateAtomicRMW(llvm::AtomicRMWInst::Xchg, report, builder.getInt32(1), llvm::MaybeAlign(4),
                                           llvm::AtomicOrdering::Monotonic, scope);
    builder.CreateCondBr(builder.CreateICmpEQ(taken, builder.getInt32(0)), write, end);

    builder.SetInsertPoint(write);
    const auto put = [&](std::size_t place, Value* value) {
      builder.CreateStore(value, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), report, place));
    };
    for (std::size_t i = 0; i < count; ++i) put(places[i], merged_[i]);
    const ReportedPlace place = place_again(builder, entry_);
    put(offsetof(Report, thread), place.index);
    for (std::size_t d = 0; d < 3; ++d) put(offsetof(Report, group) + 4 * d, place.group[d]);
    builder.CreateFence(llvm::AtomicOrdering::AcquireRelease);
    Value* host = load_from_head(builder, entry_, offsetof(LaunchHead, host), pointer);
    builder.CreateStore(builder.getInt32(1), host, /*isVolatile=*/true);
    builder.CreateBr(end);

    builder.SetInsertPoint(end);
    builder.CreateIntrinsic(llvm::Intrinsic::nvvm_exit, {});
    builder.CreateUnreachable();
  }

  const Entry& entry_;
  llvm::BasicBlock* block_ = nullptr;
  std::array<llvm::PHINode*, count> merged_{};
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

void lower_bounds_checks(llvm::Module& module, const Entry& entry) {
  ReportWriter writer(entry);
  ir::lower_bounds_checks(module,
                          [&](llvm::IRBuilderBase& builder, llvm::CallInst& check) { writer.report(builder, check); });
}

}  // namespace metalloid::engines::cuda
