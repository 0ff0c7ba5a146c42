#include "engines/simd/lane/next_threadgroup.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>

#include <cstddef>
#include <cstdint>

#include "engines/cpu_shared/kernel_abi.h"

namespace metalloid::engines::simd {
namespace {

using llvm::Value;

constexpr unsigned deepest = 32;  // operands below each other
constexpr std::size_t position_offset = offsetof(cpu::ThreadgroupState, threadgroup_position_in_grid);
constexpr std::size_t word = sizeof(std::uint32_t);

}  // namespace

Value* NextThreadgroup::value_of(Value* value, unsigned depth) {
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction) return value;
  if (const auto found = known_.find(value); found != known_.end()) return found->second;
  Value* result = value;
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction)) {
    result = position(*load);
  } else if (llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::GetElementPtrInst, llvm::ExtractElementInst>(
                 instruction)) {
    result = depth == deepest ? nullptr : copy_of(*instruction, depth);
  }
  known_[value] = result;
  return result;
}

Value* NextThreadgroup::copy_of(llvm::Instruction& instruction, unsigned depth) {
  llvm::SmallVector<Value*, 4> operands;
  bool differs = false;
  for (Value* operand : instruction.operands()) {
    operands.push_back(value_of(operand, depth + 1));
    if (!operands.back()) return nullptr;
    differs |= operands.back() != operand;
  }
  if (!differs) return &instruction;
  if (instruction.isIntDivRem()) return nullptr;
  llvm::Instruction* copy = instruction.clone();
  copy->dropPoisonGeneratingFlags();
  for (unsigned i = 0; i < operands.size(); ++i) copy->setOperand(i, operands[i]);
  return builder_.Insert(copy);
}

// The next position where that is what is loaded, else what is loaded.
Value* NextThreadgroup::position(llvm::LoadInst& load) {
  Value* loaded = &load;
  const llvm::DataLayout& layout = load.getDataLayout();
  llvm::APInt offset(64, 0);
  const Value* base = load.getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true);
  if (base != state_ || offset.ult(position_offset) || offset.uge(position_offset + 3 * word)) return loaded;
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(load.getType());
  const std::size_t first = (offset.getZExtValue() - position_offset) / word;
  const std::size_t count = vector ? vector->getNumElements() : 1;
  if (!load.getType()->isIntOrIntVectorTy(32) || first + count > next_.size()) return nullptr;
  if (!next_[0]) {
    const auto number = [&](std::size_t place) {
      Value* address = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), state_, place);
      llvm::LoadInst* made = builder_.CreateLoad(builder_.getInt32Ty(), address);
      made->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(builder_.getContext(), {}));
      return made;
    };
    Value* x = builder_.CreateAdd(number(position_offset), builder_.getInt32(1));
    Value* ends = builder_.CreateICmpEQ(x, number(offsetof(cpu::ThreadgroupState, threadgroups_per_grid)));
    Value* further = builder_.CreateZExt(ends, builder_.getInt32Ty());
    next_ = {builder_.CreateSelect(ends, builder_.getInt32(0), x),
             builder_.CreateAdd(number(position_offset + word), further), number(position_offset + 2 * word)};
  }
  if (!vector) return next_[first];
  for (std::size_t i = 0; i < count; ++i) loaded = builder_.CreateInsertElement(loaded, next_[first + i], i);
  return loaded;
}

}  // namespace metalloid::engines::simd
