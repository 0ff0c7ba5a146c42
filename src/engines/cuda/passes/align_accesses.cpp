#include "engines/cuda/passes/align_accesses.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <array>

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;

// The widest access that the GPU has.
const llvm::Align widest(16);

class Alignment {
 public:
  explicit Alignment(llvm::Function& function) : function_(function), layout_(function.getDataLayout()) {}

  void run() {
    llvm::SmallVector<llvm::Instruction*, 32> unsure;
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function_))) {
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) narrow(*store);
    }
    for (llvm::Instruction& instruction : llvm::instructions(function_)) {
      if (auto* transfer = llvm::dyn_cast<llvm::AnyMemIntrinsic>(&instruction)) {
        relax(*transfer);
      } else if (is_unsure(instruction)) {
        unsure.push_back(&instruction);
      }
    }
    for (llvm::Instruction* access : unsure) split(*access);
  }

 private:
  llvm::Align known(Value* pointer) const { return llvm::getKnownAlignment(pointer, layout_); }

  // store <4 x float> (three elements and poison)    ->    store <3 x float>
  static void narrow(llvm::StoreInst& store) {
    auto* value = llvm::dyn_cast<llvm::ShuffleVectorInst>(store.getValueOperand());
    if (!value || store.isAtomic() || store.isVolatile()) return;
    const llvm::ArrayRef<int> mask = value->getShuffleMask();
    if (mask.size() != 4 || mask.back() != llvm::PoisonMaskElem) return;
    llvm::IRBuilder<> builder(&store);
    constexpr std::array<int, 3> first = {0, 1, 2};
    auto* narrower = builder.CreateAlignedStore(builder.CreateShuffleVector(value, first), store.getPointerOperand(),
                                                store.getAlign());
    narrower->setDebugLoc(store.getDebugLoc());
    store.eraseFromParent();
  }

  void relax(llvm::AnyMemIntrinsic& transfer) const {
    const auto less = [&](llvm::MaybeAlign claimed, Value* pointer) {
      return std::min(claimed.valueOrOne(), known(pointer));
    };
    transfer.setDestAlignment(less(transfer.getDestAlign(), transfer.getRawDest()));
    if (auto* copy = llvm::dyn_cast<llvm::AnyMemTransferInst>(&transfer)) {
      copy->setSourceAlignment(less(copy->getSourceAlign(), copy->getRawSource()));
    }
  }

  bool is_unsure(llvm::Instruction& instruction) const {
    const bool is_plain =
        (llvm::isa<llvm::LoadInst>(instruction) || llvm::isa<llvm::StoreInst>(instruction)) && !instruction.isAtomic();
    if (!is_plain) return false;
    return known(llvm::getLoadStorePointerOperand(&instruction)) <
           std::min(llvm::getLoadStoreAlignment(&instruction), widest);
  }

  void split(llvm::Instruction& access) const {
    Value* pointer = llvm::getLoadStorePointerOperand(&access);
    const llvm::Align wanted = std::min(llvm::getLoadStoreAlignment(&access), widest), sure = known(pointer);
    llvm::IRBuilder<> builder(&access);
    Value* address = builder.CreatePtrToInt(
        pointer, builder.getIntNTy(layout_.getPointerSizeInBits(pointer->getType()->getPointerAddressSpace())));
    Value* rest = builder.CreateAnd(address, llvm::ConstantInt::get(address->getType(), wanted.value() - 1));
    Value* is_aligned = builder.CreateICmpEQ(rest, llvm::ConstantInt::get(address->getType(), 0));
    llvm::MDNode* likely = llvm::MDBuilder(function_.getContext()).createLikelyBranchWeights();
    llvm::Instruction *then = nullptr, *otherwise = nullptr;
    llvm::SplitBlockAndInsertIfThenElse(is_aligned, &access, &then, &otherwise, likely);
    llvm::Instruction* in_pieces = access.clone();
    in_pieces->insertBefore(otherwise->getIterator());
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(in_pieces)) load->setAlignment(sure);
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(in_pieces)) store->setAlignment(sure);
    llvm::BasicBlock* behind = access.getParent();
    access.moveBefore(then->getIterator());
    if (access.getType()->isVoidTy()) return;
    builder.SetInsertPoint(behind, behind->begin());
    llvm::PHINode* merged = builder.CreatePHI(access.getType(), 2);
    access.replaceAllUsesWith(merged);
    merged->addIncoming(&access, access.getParent());
    merged->addIncoming(in_pieces, in_pieces->getParent());
  }

  llvm::Function& function_;
  const llvm::DataLayout& layout_;
};

}  // namespace

void align_accesses(llvm::Function& function) { Alignment(function).run(); }

}  // namespace metalloid::engines::cuda
