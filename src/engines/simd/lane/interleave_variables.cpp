#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/Utils/Local.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <vector>

#include "engines/simd/lane/prepare_lane.h"
#include "engines/simd/shapes/lane_target.h"
#include "metalloid/reflection.h"

namespace metalloid::engines::simd {
namespace {

using llvm::Value;

// Elements that a fill becomes stores of, one each.
constexpr std::uint64_t most_filled = 256;

class Variable {
 public:
  Variable(llvm::AllocaInst& variable, const llvm::DataLayout& layout) : variable_(variable), layout_(layout) {
    const auto bytes = variable.getAllocationSize(layout);
    bytes_ = bytes ? bytes->getFixedValue() : 0;
    can_interleave_ = follow(variable) && element_ != 0;
  }

  // `lane`: the lane's number, 64 bits.
  void place(Value* lane) {
    // In front of the lane's number, wherever the variable itself stands.
    llvm::BasicBlock& first = variable_.getFunction()->getEntryBlock();
    llvm::IRBuilder<> builder(&first, first.begin());
    const std::uint64_t alignment = variable_.getAlign().value();
    const std::uint64_t distance = can_interleave_ ? element_ : (bytes_ + alignment - 1) / alignment * alignment;
    const std::uint64_t all =
        can_interleave_ ? (bytes_ + element_ - 1) / element_ * element_ * simdgroup_width : distance * simdgroup_width;
    llvm::AllocaInst* memory =
        builder.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), all), nullptr, variable_.getName());
    memory->setAlignment(std::max(variable_.getAlign(), llvm::Align(64)));
    memory->setMetadata(of_simdgroup, llvm::MDNode::get(builder.getContext(), {}));
    builder.SetInsertPoint(llvm::cast<llvm::Instruction>(lane)->getNextNode());
    Value* own = builder.CreateGEP(builder.getInt8Ty(), memory, builder.CreateMul(lane, builder.getInt64(distance)));
    for (llvm::Instruction* mark : lifetimes_) mark->eraseFromParent();
    if (can_interleave_) {
      for (llvm::MemSetInst* fill : fills_) store_elements(*fill);
      spread(variable_, own);
    }
    variable_.replaceAllUsesWith(own);
    variable_.eraseFromParent();
  }

 private:
  bool is_element(llvm::Type* type) {
    if (type->isVectorTy() || type->isAggregateType() || type->isIntegerTy(1)) return false;
    const std::uint64_t size = layout_.getTypeStoreSize(type).getFixedValue();
    if (element_ != 0 && element_ != size) return false;
    element_ = size;
    return llvm::isPowerOf2_64(size) && size <= 8;
  }

  // Whether all uses of an address are accesses of elements of one size, at multiples of it.
  bool follow(llvm::Instruction& address) {
    for (llvm::User* user : address.users()) {
      auto* instruction = llvm::cast<llvm::Instruction>(user);
      if (instruction->isLifetimeStartOrEnd()) {
        lifetimes_.push_back(instruction);
      } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction)) {
        if (!is_element(load->getType())) ok_ = false;
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(instruction)) {
        if (store->getValueOperand() == &address || !is_element(store->getValueOperand()->getType())) ok_ = false;
      } else if (auto* fill = llvm::dyn_cast<llvm::MemSetInst>(instruction)) {
        fills_.push_back(fill);
      } else if (auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(instruction)) {
        addresses_.push_back(step);
        follow(*step);
      } else {
        ok_ = false;
      }
    }
    if (&address != &variable_) return ok_;
    for (llvm::GetElementPtrInst* step : addresses_) ok_ = ok_ && is_multiple(*step);
    for (llvm::MemSetInst* fill : fills_) ok_ = ok_ && is_of_elements(*fill);
    return ok_;
  }

  bool is_multiple(llvm::GetElementPtrInst& address) const {
    for (auto step = llvm::gep_type_begin(address); step != llvm::gep_type_end(address); ++step) {
      if (llvm::StructType* structure = step.getStructTypeOrNull()) {
        const auto index = llvm::cast<llvm::ConstantInt>(step.getOperand())->getZExtValue();
        if (layout_.getStructLayout(structure)->getElementOffset(static_cast<unsigned>(index)) % element_ != 0)
          return false;
        continue;
      }
      const std::uint64_t stride = step.getSequentialElementStride(layout_).getFixedValue();
      if (stride % element_ == 0) continue;
      auto* constant = llvm::dyn_cast<llvm::ConstantInt>(step.getOperand());
      if (!constant || (constant->getZExtValue() * stride) % element_ != 0) return false;
    }
    return true;
  }

  bool is_of_elements(const llvm::MemSetInst& fill) const {
    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(fill.getLength());
    return element_ != 0 && length && length->getZExtValue() % element_ == 0 &&
           length->getZExtValue() / element_ <= most_filled && llvm::isa<llvm::ConstantInt>(fill.getValue()) &&
           !fill.isVolatile();
  }

  void store_elements(llvm::MemSetInst& fill) const {
    llvm::IRBuilder<> builder(&fill);
    const auto bits = static_cast<unsigned>(8 * element_);
    Value* element =
        builder.getInt(llvm::APInt::getSplat(bits, llvm::cast<llvm::ConstantInt>(fill.getValue())->getValue()));
    const std::uint64_t count = llvm::cast<llvm::ConstantInt>(fill.getLength())->getZExtValue() / element_;
    for (std::uint64_t i = 0; i < count; ++i) {
      Value* place = builder.CreateGEP(builder.getInt8Ty(), fill.getDest(), builder.getInt64(i * element_));
      builder.CreateAlignedStore(element, place, llvm::Align(element_));
    }
    fill.eraseFromParent();
  }

  void spread(llvm::Instruction& address, Value* own) {
    for (llvm::User* user : llvm::make_early_inc_range(address.users())) {
      auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(user);
      if (!step) continue;
      llvm::IRBuilder<> builder(step);
      Value* offset = llvm::emitGEPOffset(&builder, layout_, step, /*NoAssumptions=*/true);
      offset = builder.CreateMul(offset, llvm::ConstantInt::get(offset->getType(), simdgroup_width));
      Value* moved = builder.CreateGEP(builder.getInt8Ty(), own, offset);
      spread(*step, moved);
      step->replaceAllUsesWith(moved);
      step->eraseFromParent();
    }
  }

  llvm::AllocaInst& variable_;
  const llvm::DataLayout& layout_;
  std::uint64_t bytes_ = 0, element_ = 0;
  bool can_interleave_ = false, ok_ = true;
  std::vector<llvm::GetElementPtrInst*> addresses_;
  std::vector<llvm::Instruction*> lifetimes_;
  std::vector<llvm::MemSetInst*> fills_;
};

}  // namespace

void interleave_variables(llvm::Function& lane) {
  llvm::SmallVector<llvm::AllocaInst*, 8> variables;
  for (llvm::Instruction& instruction : lane.getEntryBlock()) {
    if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) variables.push_back(variable);
  }
  if (variables.empty()) return;
  llvm::IRBuilder<> builder(&lane.getEntryBlock(), lane.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  auto callee = lane.getParent()->getOrInsertFunction(llvm::StringRef(lane_number_name), builder.getInt32Ty());
  llvm::cast<llvm::Function>(callee.getCallee())->setMemoryEffects(llvm::MemoryEffects::none());
  Value* number = builder.CreateZExt(builder.CreateCall(callee), builder.getInt64Ty());
  for (llvm::AllocaInst* variable : variables) Variable(*variable, lane.getDataLayout()).place(number);
}

}  // namespace metalloid::engines::simd
