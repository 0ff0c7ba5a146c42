#include "engines/cuda/passes/align_accesses.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/bit.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "engines/cuda/passes/fork_by_alignment.h"
#include "ir/support/pass_managers.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;

class Alignment {
 public:
  Alignment(llvm::Function& function, llvm::ScalarEvolution& evolution)
      : function_(function), layout_(function.getDataLayout()), evolution_(evolution) {}

  void run() {
    llvm::SmallVector<UnsureAccess, 32> unsure;
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function_))) {
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) narrow(*store);
    }
    for (llvm::Instruction& instruction : llvm::instructions(function_)) {
      if (auto* transfer = llvm::dyn_cast<llvm::AnyMemIntrinsic>(&instruction)) {
        relax(*transfer);
      } else if (is_unsure(instruction)) {
        unsure.push_back({&instruction, known(llvm::getLoadStorePointerOperand(&instruction))});
      }
    }
    fork_by_alignment(function_, unsure);
  }

 private:
  // The one knows what an address came from, the other how numbers add up.
  llvm::Align known(Value* pointer) const {
    const unsigned zeros = std::min(evolution_.getMinTrailingZeros(evolution_.getSCEV(pointer)), 4U);
    return std::max(llvm::getKnownAlignment(pointer, layout_), llvm::Align(std::uint64_t{1} << zeros));
  }

  // Whether nobody wrote the fourth element of a vector.
  static bool has_three(Value* vector, llvm::SmallPtrSetImpl<Value*>& seen) {
    if (!seen.insert(vector).second) return true;
    const auto each = [&](Value* part) { return has_three(part, seen); };
    if (auto* merged = llvm::dyn_cast<llvm::PHINode>(vector)) return llvm::all_of(merged->incoming_values(), each);
    if (auto* choice = llvm::dyn_cast<llvm::SelectInst>(vector)) {
      return each(choice->getTrueValue()) && each(choice->getFalseValue());
    }
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(vector)) {
      const llvm::Constant* last = constant->getAggregateElement(3);
      return last && llvm::isa<llvm::UndefValue>(last);
    }
    auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(vector);
    if (!shuffle) return false;
    const int source = shuffle->getMaskValue(3);
    if (source == llvm::PoisonMaskElem) return true;
    const auto width =
        static_cast<int>(llvm::cast<llvm::FixedVectorType>(shuffle->getOperand(0)->getType())->getNumElements());
    auto* from = llvm::dyn_cast<llvm::Constant>(shuffle->getOperand(source < width ? 0 : 1));
    const llvm::Constant* element = from ? from->getAggregateElement(static_cast<unsigned>(source % width)) : nullptr;
    return element && llvm::isa<llvm::UndefValue>(element);
  }

  // store <4 x float> (three elements and nothing)    ->    store <3 x float>
  static void narrow(llvm::StoreInst& store) {
    Value* value = store.getValueOperand();
    const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
    llvm::SmallPtrSet<Value*, 8> seen;
    if (!type || type->getNumElements() != 4 || !store.isSimple() || !has_three(value, seen)) return;
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
    if (!is_plain || is_noted_aligned(instruction)) return false;
    llvm::Type* type = llvm::getLoadStoreType(&instruction);
    // No structures, and nothing that has bits of no byte.
    const llvm::TypeSize bits = layout_.getTypeSizeInBits(type);
    if (!type->isSingleValueType() || bits != 8 * layout_.getTypeStoreSize(type).getFixedValue()) return false;
    return known(llvm::getLoadStorePointerOperand(&instruction)) <
           std::min(llvm::getLoadStoreAlignment(&instruction), widest_access);
  }

  llvm::Function& function_;
  const llvm::DataLayout& layout_;
  llvm::ScalarEvolution& evolution_;
};

}  // namespace

void align_accesses(llvm::Function& function) {
  ir::PassManagers managers;
  Alignment(function, managers.functions.getResult<llvm::ScalarEvolutionAnalysis>(function)).run();
}

}  // namespace metalloid::engines::cuda
