// interleave_variables: prepare_lane.h has what becomes of a variable. What is wider than its elements is made of them:
//
//   load <2 x float>, %a + 8                ->  load float, %a + 8 * 32;  load float, %a + 12 * 32;  insertelement ...
//   memcpy(%a, ptr addrspace(1) %from, 8)   ->  load i32, %from;  load i32, %from + 4;  store i32, %a;  ...
//   memset(%a, 0, 4096)                     ->  a loop of stores
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/Utils/Local.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engines/simd/lane/prepare_lane.h"
#include "engines/simd/lane/variable_elements.h"
#include "engines/simd/shapes/lane_target.h"
#include "metalloid/reflection.h"

namespace metalloid::engines::simd {
namespace {

using llvm::Value;

// Elements of a copy or a fill that has no loop.
constexpr std::uint64_t most_in_a_row = 64;

// One access, made of elements of so many bytes.
class WideAccess {
 public:
  WideAccess(llvm::Instruction& access, std::uint64_t element)
      : builder_(&access), layout_(access.getDataLayout()), element_(element) {}

  Value* load(llvm::Type* type, Value* place) {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    if (!vector) return load_unit(type, place, 0);
    Value* result = llvm::PoisonValue::get(type);
    for (unsigned i = 0; i < vector->getNumElements(); ++i) {
      Value* unit = load_unit(vector->getElementType(), place, i * bytes_of(vector->getElementType()));
      result = builder_.CreateInsertElement(result, unit, std::uint64_t{i});
    }
    return result;
  }
  void store(Value* value, Value* place) {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
    if (!vector) return store_unit(value, place, 0);
    for (unsigned i = 0; i < vector->getNumElements(); ++i) {
      store_unit(builder_.CreateExtractElement(value, std::uint64_t{i}), place, i * bytes_of(vector->getElementType()));
    }
  }

 private:
  std::uint64_t bytes_of(llvm::Type* type) const { return layout_.getTypeStoreSize(type).getFixedValue(); }
  Value* at(Value* place, std::uint64_t offset) {
    if (offset == 0) return place;
    return builder_.CreateGEP(builder_.getInt8Ty(), place, builder_.getInt64(offset));
  }
  llvm::Type* element_type() { return builder_.getIntNTy(static_cast<unsigned>(8 * element_)); }

  Value* load_unit(llvm::Type* type, Value* place, std::uint64_t offset) {
    const std::uint64_t bytes = bytes_of(type);
    if (bytes == element_) return builder_.CreateAlignedLoad(type, at(place, offset), llvm::Align(element_));
    llvm::Type* whole = builder_.getIntNTy(static_cast<unsigned>(8 * bytes));
    Value* result = nullptr;
    for (std::uint64_t part = 0; part < bytes; part += element_) {
      Value* loaded = builder_.CreateAlignedLoad(element_type(), at(place, offset + part), llvm::Align(element_));
      loaded = builder_.CreateShl(builder_.CreateZExt(loaded, whole), 8 * part);
      result = result ? builder_.CreateOr(result, loaded) : loaded;
    }
    return builder_.CreateBitCast(result, type);
  }
  void store_unit(Value* value, Value* place, std::uint64_t offset) {
    const std::uint64_t bytes = bytes_of(value->getType());
    if (bytes == element_) {
      builder_.CreateAlignedStore(value, at(place, offset), llvm::Align(element_));
      return;
    }
    value = builder_.CreateBitCast(value, builder_.getIntNTy(static_cast<unsigned>(8 * bytes)));
    for (std::uint64_t part = 0; part < bytes; part += element_) {
      Value* stored = builder_.CreateTrunc(builder_.CreateLShr(value, 8 * part), element_type());
      builder_.CreateAlignedStore(stored, at(place, offset + part), llvm::Align(element_));
    }
  }

  llvm::IRBuilder<> builder_;
  const llvm::DataLayout& layout_;
  std::uint64_t element_;
};

void split_access(llvm::Instruction& access, std::uint64_t element) {
  llvm::Type* type = access.getType();
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&access)) type = store->getValueOperand()->getType();
  const std::uint64_t bytes = access.getDataLayout().getTypeStoreSize(type).getFixedValue();
  if (!type->isVectorTy() && bytes == element) return;
  WideAccess wide(access, element);
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&access)) {
    wide.store(store->getValueOperand(), store->getPointerOperand());
  } else {
    access.replaceAllUsesWith(wide.load(type, llvm::cast<llvm::LoadInst>(access).getPointerOperand()));
  }
  access.eraseFromParent();
}

// An end of a copy or a fill.
struct End {
  Value* address;
  llvm::Align alignment;

  Value* at(llvm::IRBuilder<>& builder, Value* offset) const {
    return builder.CreateGEP(builder.getInt8Ty(), address, offset);
  }
};

// Calls `body` with offsets in bytes, in so many turns.
template <typename Body>
void for_each_offset(llvm::Instruction& in_front_of, std::uint64_t turns, std::uint64_t bytes, Body&& body) {
  if (turns <= most_in_a_row) {
    llvm::IRBuilder<> builder(&in_front_of);
    for (std::uint64_t i = 0; i < turns; ++i) body(builder, builder.getInt64(i * bytes));
    return;
  }
  llvm::IRBuilder<> outside(&in_front_of);
  const auto [place, index] =
      llvm::SplitBlockAndInsertSimpleForLoop(outside.getInt64(turns), in_front_of.getIterator());
  llvm::IRBuilder<> builder(place);
  builder.SetCurrentDebugLocation(in_front_of.getDebugLoc());
  body(builder, builder.CreateMul(index, builder.getInt64(bytes)));
}

void split_fill(llvm::MemSetInst& fill, std::uint64_t element) {
  const std::uint64_t count = llvm::cast<llvm::ConstantInt>(fill.getLength())->getZExtValue() / element;
  const llvm::APInt& byte = llvm::cast<llvm::ConstantInt>(fill.getValue())->getValue();
  const llvm::APInt value = llvm::APInt::getSplat(static_cast<unsigned>(8 * element), byte);
  const End to{fill.getRawDest(), llvm::Align(element)};
  for_each_offset(fill, count, element, [&](llvm::IRBuilder<>& builder, Value* offset) {
    builder.CreateAlignedStore(builder.getInt(value), to.at(builder, offset), to.alignment);
  });
  fill.eraseFromParent();
}

// Memory that is no variable of elements is copied by words of 32 bits: its accesses are joined to pieces.
void split_copy(const ElementCopy& elements) {
  llvm::MemTransferInst& copy = *elements.copy;
  const std::uint64_t bytes = llvm::cast<llvm::ConstantInt>(copy.getLength())->getZExtValue();
  const bool is_within = elements.from_elements && elements.to_elements;
  const std::uint64_t element = elements.element;
  const std::uint64_t step = is_within || bytes % 4 != 0 ? element : std::max<std::uint64_t>(element, 4);
  const End from{copy.getRawSource(), copy.getSourceAlign().valueOrOne()};
  const End to{copy.getRawDest(), copy.getDestAlign().valueOrOne()};
  llvm::Type* type = llvm::Type::getIntNTy(copy.getContext(), static_cast<unsigned>(8 * step));
  std::vector<llvm::Instruction*> wide;
  const auto load = [&](llvm::IRBuilder<>& builder, Value* offset) {
    auto* value =
        builder.CreateAlignedLoad(type, from.at(builder, offset), llvm::commonAlignment(from.alignment, step));
    if (elements.from_elements) wide.push_back(value);
    return value;
  };
  const auto store = [&](llvm::IRBuilder<>& builder, Value* value, Value* offset) {
    auto* made = builder.CreateAlignedStore(value, to.at(builder, offset), llvm::commonAlignment(to.alignment, step));
    if (elements.to_elements) wide.push_back(made);
  };
  const std::uint64_t turns = bytes / step;
  if (turns <= most_in_a_row) {  // all loads first: a move may overlap
    llvm::SmallVector<Value*, most_in_a_row> values;
    for_each_offset(copy, turns, step,
                    [&](llvm::IRBuilder<>& builder, Value* offset) { values.push_back(load(builder, offset)); });
    std::size_t next = 0;
    for_each_offset(copy, turns, step,
                    [&](llvm::IRBuilder<>& builder, Value* offset) { store(builder, values[next++], offset); });
  } else {
    for_each_offset(copy, turns, step,
                    [&](llvm::IRBuilder<>& builder, Value* offset) { store(builder, load(builder, offset), offset); });
  }
  for (llvm::Instruction* access : wide) split_access(*access, element);
  copy.eraseFromParent();
}

// Steps from an address in a variable, in the one whose elements are 32 times as far from each other.
void spread(llvm::Instruction& address, Value* own) {
  const llvm::DataLayout& layout = address.getDataLayout();
  for (llvm::User* user : llvm::make_early_inc_range(address.users())) {
    auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(user);
    if (!step) continue;
    llvm::IRBuilder<> builder(step);
    Value* offset = llvm::emitGEPOffset(&builder, layout, step, /*NoAssumptions=*/true);
    offset = builder.CreateMul(offset, llvm::ConstantInt::get(offset->getType(), step_width(*step->getFunction())));
    Value* moved = builder.CreateGEP(builder.getInt8Ty(), own, offset);
    spread(*step, moved);
    step->replaceAllUsesWith(moved);
    step->eraseFromParent();
  }
}

// `lane`: the lane's number, 64 bits. `element`: 0 if it has none.
void place(llvm::AllocaInst& variable, std::uint64_t element, Value* lane) {
  const llvm::DataLayout& layout = variable.getDataLayout();
  const auto size = variable.getAllocationSize(layout);
  const std::uint64_t bytes = size ? size->getFixedValue() : 0;
  // In front of the lane's number, wherever the variable itself stands.
  llvm::BasicBlock& first = variable.getFunction()->getEntryBlock();
  llvm::IRBuilder<> builder(&first, first.begin());
  const std::uint64_t distance = element != 0 ? element : llvm::alignTo(bytes, variable.getAlign());
  const std::uint64_t all =
      (element != 0 ? llvm::alignTo(bytes, element) : distance) * step_width(*variable.getFunction());
  llvm::AllocaInst* memory =
      builder.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), all), nullptr, variable.getName());
  memory->setAlignment(std::max(variable.getAlign(), llvm::Align(64)));
  memory->setMetadata(of_simdgroup, llvm::MDNode::get(builder.getContext(), {}));
  builder.SetInsertPoint(llvm::cast<llvm::Instruction>(lane)->getNextNode());
  Value* own = builder.CreateGEP(builder.getInt8Ty(), memory, builder.CreateMul(lane, builder.getInt64(distance)));
  if (element != 0) spread(variable, own);
  variable.replaceAllUsesWith(own);
  variable.eraseFromParent();
}

}  // namespace

void interleave_variables(llvm::Function& lane) {
  llvm::SmallVector<llvm::AllocaInst*, 8> variables;
  for (llvm::Instruction& instruction : lane.getEntryBlock()) {
    if (auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) variables.push_back(variable);
  }
  if (variables.empty()) return;
  llvm::DenseMap<llvm::AllocaInst*, std::uint64_t> elements;
  const ElementVariables found = element_variables(lane);
  for (const ElementVariable& each : found.variables) {
    elements[each.variable] = each.element;
    for (llvm::Instruction* access : each.accesses) split_access(*access, each.element);
    for (llvm::MemSetInst* fill : each.fills) split_fill(*fill, each.element);
  }
  for (const ElementCopy& copy : found.copies) split_copy(copy);

  llvm::IRBuilder<> builder(&lane.getEntryBlock(), lane.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  auto callee = lane.getParent()->getOrInsertFunction(llvm::StringRef(lane_number_name), builder.getInt32Ty());
  llvm::cast<llvm::Function>(callee.getCallee())->setMemoryEffects(llvm::MemoryEffects::none());
  Value* number = builder.CreateZExt(builder.CreateCall(callee), builder.getInt64Ty());
  for (llvm::AllocaInst* variable : variables) {
    llvm::SmallVector<llvm::Instruction*, 4> lifetimes;
    for (llvm::User* user : variable->users()) {
      auto* instruction = llvm::cast<llvm::Instruction>(user);
      if (instruction->isLifetimeStartOrEnd()) lifetimes.push_back(instruction);
    }
    for (llvm::Instruction* mark : lifetimes) mark->eraseFromParent();
    place(*variable, elements.lookup(variable), number);
  }
}

}  // namespace metalloid::engines::simd
