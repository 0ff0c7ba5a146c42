#include "engines/cuda/passes/copy_ahead.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Support/KnownBits.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <cstddef>
#include <cstdint>

#include "engines/cuda/passes/loop_turns.h"
#include "engines/cuda/passes/ring_tiles.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

constexpr unsigned threadgroup_space = 3;
constexpr unsigned turns_ahead = ring_stages - 1;
static_assert(turns_ahead == 2);
constexpr std::uint64_t piece_bytes = 16;

struct Copy {
  llvm::LoadInst* load;
  llvm::StoreInst* store;
};

// In one turn.
struct Piece {
  Value *from, *to;
};

class LoopCopies {
 public:
  explicit LoopCopies(llvm::Loop& loop) : turns_(loop), block_(turns_.block()), builder_(block_.getContext()) {}

  void run() {
    llvm::BranchInst* branch = turns_.branch();
    if (!branch || !branch->isConditional() || !find_copies() || !counters_can_be_made(*branch)) return;
    llvm::ValueToValueMapTy first, second, now, next, later;
    turns_.begin(first);
    builder_.SetInsertPoint(turns_.before().getTerminator());
    const auto of_first = make_pieces(first);
    Value* has_second = turns_.make_goes_on(builder_, first);
    step(first, second);
    const auto of_second = make_pieces(second);
    builder_.SetInsertPoint(barrier_->getNextNode());
    Value* goes_on = turns_.make_goes_on(builder_, now);
    step(now, next);
    goes_on = builder_.CreateAnd(goes_on, turns_.make_goes_on(builder_, next));
    step(next, later);
    const auto of_later = make_pieces(later);
    Instruction* place = &*builder_.GetInsertPoint();
    for (const Copy& copy : copies_) copy.store->eraseFromParent();
    for (const Copy& copy : copies_) copy.load->eraseFromParent();
    builder_.SetInsertPoint(barrier_);
    builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_wait_group, {builder_.getInt32(turns_ahead - 1)});
    Instruction* end = turns_.before().getTerminator();
    copy(of_first, *end);
    close(*end);
    copy(of_second, *llvm::SplitBlockAndInsertIfThen(has_second, end->getIterator(), /*Unreachable=*/false));
    close(*end);
    copy(of_later, *llvm::SplitBlockAndInsertIfThen(goes_on, place->getIterator(), /*Unreachable=*/false));
    close(*place);  // empty or not: what is waited for is counted in groups
  }

 private:
  bool counters_can_be_made(llvm::BranchInst& branch) {
    if (!turns_.can_be_made(branch.getCondition(), counters_)) return false;
    std::size_t made = 0;  // more may come on the way
    while (made < counters_.size()) {
      const llvm::PHINode* counter = counters_[made++];
      if (!turns_.can_be_made(counter->getIncomingValueForBlock(&block_), counters_)) return false;
    }
    return true;
  }

  // From a turn's counters to the next one's.
  void step(llvm::ValueToValueMapTy& from, llvm::ValueToValueMapTy& to) {
    for (llvm::PHINode* counter : counters_) {
      Value* then = counter->getIncomingValueForBlock(&block_);
      to[counter] = turns_.make(builder_, then, from);
    }
  }

  void close(Instruction& place) {
    builder_.SetInsertPoint(&place);
    builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_commit_group, {});
  }

  // All that the loop writes to threadgroup memory.
  bool find_copies() {
    barrier_ = barrier_from(&block_.front());
    if (!barrier_ || barrier_from(barrier_->getNextNode())) return false;
    for (Instruction& instruction : block_) {
      auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      if (!store || store->getPointerAddressSpace() != threadgroup_space) continue;
      auto* load = llvm::dyn_cast<llvm::LoadInst>(store->getValueOperand());
      if (!store->isSimple() || !is_in_ring(*store->getPointerOperand()) || !store->comesBefore(barrier_) || !load ||
          !is_of_pieces(*load) || !turns_.can_be_made(load->getPointerOperand(), counters_) ||
          !turns_.can_be_made(store->getPointerOperand(), counters_)) {
        return false;
      }
      copies_.push_back({load, store});
    }
    return !copies_.empty();
  }

  bool is_of_pieces(const llvm::LoadInst& load) const {
    const std::uint64_t bytes = load.getDataLayout().getTypeStoreSize(load.getType()).getFixedValue();
    return bytes == piece_bytes && load.isSimple() && load.hasOneUse() && load.getParent() == &block_ &&
           load.hasMetadata(llvm::LLVMContext::MD_invariant_load) && load.getPointerAddressSpace() == 1;
  }

  llvm::SmallVector<Piece, 16> make_pieces(llvm::ValueToValueMapTy& values) {
    llvm::SmallVector<Piece, 16> pieces;
    for (const Copy& copy : copies_) {
      pieces.push_back({turns_.make(builder_, copy.load->getPointerOperand(), values),
                        turns_.make(builder_, copy.store->getPointerOperand(), values)});
    }
    return pieces;
  }

  bool is_aligned(const Value& place) const {
    return llvm::Log2_64(piece_bytes) <=
           llvm::computeKnownBits(&place, block_.getModule()->getDataLayout()).countMinTrailingZeros();
  }

  // In front of `place`.
  void copy(llvm::ArrayRef<Piece> pieces, Instruction& place) {
    builder_.SetInsertPoint(&place);
    Value* low = builder_.getInt64(0);
    for (const Piece& piece : pieces) {
      low = builder_.CreateOr(low, builder_.CreatePtrToInt(piece.from, builder_.getInt64Ty()));
      if (!is_aligned(*piece.to))
        low = builder_.CreateOr(low, builder_.CreatePtrToInt(piece.to, builder_.getInt64Ty()));
    }
    low = builder_.CreateAnd(low, builder_.getInt64(piece_bytes - 1));
    Instruction *aligned = nullptr, *other = nullptr;
    llvm::SplitBlockAndInsertIfThenElse(builder_.CreateICmpEQ(low, builder_.getInt64(0)), place.getIterator(), &aligned,
                                        &other);
    builder_.SetInsertPoint(aligned);
    for (const Piece& piece : pieces) {
      builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16, {piece.to, piece.from});
    }
    builder_.SetInsertPoint(other);
    llvm::Type* words = llvm::FixedVectorType::get(builder_.getInt32Ty(), 4);
    for (const Piece& piece : pieces) {
      builder_.CreateAlignedStore(builder_.CreateAlignedLoad(words, piece.from, llvm::Align(1)), piece.to,
                                  llvm::Align(1));
    }
  }

  const LoopTurns turns_;
  BasicBlock& block_;
  llvm::IRBuilder<> builder_;
  llvm::SmallVector<Copy, 16> copies_;
  LoopTurns::Counters counters_;
  Instruction* barrier_ = nullptr;
};

}  // namespace

void copy_ahead(llvm::Function& function) {
  for_turns_with_barriers(function, [](llvm::Loop& loop) { LoopCopies(loop).run(); });
}

}  // namespace metalloid::engines::cuda
