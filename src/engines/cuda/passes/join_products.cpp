#include "engines/cuda/passes/join_products.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "engines/cuda/lanes/fragments.h"
#include "engines/cuda/lanes/products.h"

namespace metalloid::engines::cuda {
namespace {

using ir::MatrixElement;
using llvm::CallInst;
using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

// One product, or two of which the second adds to the first's result.
struct Chain {
  CallInst* first;
  CallInst* last;
  MatrixElement element;

  unsigned length() const { return first == last ? 1 : 2; }
  Value* left(unsigned which) const { return (which == 0 ? first : last)->getArgOperand(0); }
  Value* right(unsigned which) const { return (which == 0 ? first : last)->getArgOperand(1); }
  Value* start() const { return first->getArgOperand(2); }

  bool has_operands_of(const Chain& other) const {
    return element == other.element && length() == other.length() && right(0) == other.right(0) &&
           right(1) == other.right(1);
  }
};

// Of one block.
class ProductJoiner {
 public:
  explicit ProductJoiner(llvm::BasicBlock& block) : block_(block), builder_(block.getContext()) {}

  void run() {
    find_chains();
    if (chains_.empty()) return;
    // Lanes that took other ways to here come together.
    builder_.SetInsertPoint(chains_.front().first);
    meeting_ = builder_.CreateIntrinsic(intrinsic::nvvm_bar_warp_sync, {builder_.getInt32(~std::uint32_t{0})});
    llvm::SmallVector<bool, 32> is_done(chains_.size(), false);
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      if (is_done[i]) continue;
      const Chain* partner = nullptr;
      for (std::size_t j = i + 1; j < chains_.size() && !partner; ++j) {
        if (is_done[j] || !chains_[j].has_operands_of(chains_[i]) || !may_wait(chains_[i], chains_[j])) continue;
        is_done[j] = true;
        partner = &chains_[j];
      }
      multiply(chains_[i], partner);
    }
    for (const Chain& chain : chains_) {
      chain.last->eraseFromParent();
      if (chain.length() == 2) chain.first->eraseFromParent();
    }
  }

 private:
  void find_chains() {
    llvm::SmallPtrSet<const CallInst*, 32> seen;
    for (llvm::Instruction& instruction : block_) {
      const auto element = as_product(instruction);
      if (!element || element == MatrixElement::f32) continue;
      auto* first = llvm::cast<CallInst>(&instruction);
      if (!seen.insert(first).second) continue;
      CallInst* last = next_of(*first, *element);
      if (last) seen.insert(last);
      chains_.push_back({first, last ? last : first, *element});
    }
  }

  // The product that alone uses the result, to add to it.
  CallInst* next_of(CallInst& product, MatrixElement element) const {
    if (!product.hasOneUse()) return nullptr;
    auto* next = llvm::dyn_cast<CallInst>(*product.user_begin());
    if (!next || next->getParent() != &block_ || as_product(*next) != element) return nullptr;
    return next->getArgOperand(2) == &product ? next : nullptr;
  }

  // Whether nothing uses the results of one before both can be had: then it is no operand of the other either.
  bool may_wait(const Chain& one, const Chain& other) const {
    const CallInst* last = one.last->comesBefore(other.last) ? other.last : one.last;
    const auto is_used_later = [&](const Chain& chain) {
      for (const llvm::User* user : chain.last->users()) {
        const auto* instruction = llvm::cast<llvm::Instruction>(user);
        if (instruction->getParent() == &block_ && !llvm::isa<llvm::PHINode>(instruction) &&
            !last->comesBefore(instruction)) {
          return false;
        }
      }
      return true;
    };
    return is_used_later(one) && is_used_later(other);
  }

  void multiply(const Chain& upper, const Chain* lower) {
    CallInst* place = lower && upper.last->comesBefore(lower->last) ? lower->last : upper.last;
    builder_.SetInsertPoint(place);
    const bool is_half = upper.element == MatrixElement::f16;
    const unsigned length = upper.length();
    llvm::SmallVector<Value*, 10> operands;
    for (unsigned k = 0; k < length; ++k) {
      operands.push_back(as_register(upper.left(k), is_half));
      operands.push_back(lower ? as_register(lower->left(k), is_half)
                               : llvm::Constant::getNullValue(operands.back()->getType()));
    }
    for (unsigned k = 0; k < length; ++k) operands.push_back(by_columns(upper.right(k), is_half));
    for (const Chain* chain : {&upper, lower}) {
      for (unsigned part = 0; part < 2; ++part) {
        operands.push_back(chain ? builder_.CreateExtractElement(chain->start(), part)
                                 : llvm::ConstantFP::get(builder_.getFloatTy(), 0));
      }
    }
    Value* result = builder_.CreateIntrinsic(instruction(is_half, length), operands);
    upper.last->replaceAllUsesWith(pair(result, 0));
    if (lower) lower->last->replaceAllUsesWith(pair(result, 2));
  }

  static intrinsic::ID instruction(bool is_half, unsigned length) {
    if (length == 2)
      return is_half ? intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32 : intrinsic::nvvm_mma_m16n8k16_row_col_bf16;
    return is_half ? intrinsic::nvvm_mma_m16n8k8_row_col_f32_f32 : intrinsic::nvvm_mma_m16n8k8_row_col_bf16;
  }

  Value* pair(Value* result, unsigned first) {
    Value* made = llvm::PoisonValue::get(llvm::FixedVectorType::get(builder_.getFloatTy(), 2));
    for (unsigned part = 0; part < 2; ++part) {
      made = builder_.CreateInsertElement(made, builder_.CreateExtractValue(result, first + part), part);
    }
    return made;
  }

  Value* as_register(Value* matrix, bool is_half) {
    return is_half ? matrix : builder_.CreateBitCast(matrix, builder_.getInt32Ty());
  }

  // Once for all products of the block.
  Value* by_columns(Value* matrix, bool is_half) {
    Value*& known = by_columns_[matrix];
    if (!known) {
      const llvm::IRBuilder<>::InsertPointGuard guard(builder_);
      auto* made = llvm::dyn_cast<llvm::Instruction>(matrix);
      const bool is_made_behind = made && made->getParent() == &block_ && meeting_->comesBefore(made);
      builder_.SetInsertPoint((is_made_behind ? made : meeting_)->getNextNode());
      known = as_register(mark_by_columns(builder_, matrix), is_half);
    }
    return known;
  }

  llvm::BasicBlock& block_;
  llvm::IRBuilder<> builder_;
  llvm::SmallVector<Chain, 32> chains_;
  llvm::Instruction* meeting_ = nullptr;
  llvm::DenseMap<Value*, Value*> by_columns_;
};

}  // namespace

void join_products(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) ProductJoiner(block).run();
  }
}

}  // namespace metalloid::engines::cuda
