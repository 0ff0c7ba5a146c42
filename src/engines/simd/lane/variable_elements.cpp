#include "engines/simd/lane/variable_elements.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/EquivalenceClasses.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cstddef>
#include <memory>

#include "ir/tiles.h"

namespace metalloid::engines::simd {
namespace {

// Elements of an access that is wider than the variable's own.
constexpr std::uint64_t most_elements = 32, most_parts = 8;
// Bytes of a copy whose ends may overlap: all is loaded before anything is stored.
constexpr std::uint64_t longest_move = 64;

// The bytes of what an access consists of; 0 of what has no elements.
std::uint64_t unit_of(llvm::Type* type, const llvm::DataLayout& layout) {
  llvm::Type* scalar = type->getScalarType();
  if (scalar->isAggregateType()) return 0;
  const std::uint64_t bits = layout.getTypeSizeInBits(scalar).getFixedValue();
  return bits % 8 == 0 && llvm::isPowerOf2_64(bits) && bits <= 64 ? bits / 8 : 0;
}

llvm::Type* accessed_type(const llvm::Instruction& access) {
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&access)) return store->getValueOperand()->getType();
  return access.getType();
}

// What a variable's address is used for.
class Uses {
 public:
  Uses(llvm::AllocaInst& variable, const llvm::DataLayout& layout) : layout_(layout) {
    own.variable = &variable;
    const auto bytes = variable.getAllocationSize(layout);
    is_known = bytes && !bytes->isScalable();
    follow(variable);
  }

  // Whether all accesses are of whole elements of so many bytes.
  bool consists_of(std::uint64_t element) const {
    return llvm::all_of(own.accesses, [&](const auto* access) { return is_of(*access, element); }) &&
           llvm::all_of(own.fills, [&](const auto* fill) { return length_of(*fill) % element == 0; }) &&
           llvm::all_of(copies, [&](const auto* copy) { return length_of(*copy) % element == 0; }) &&
           llvm::all_of(held_, [&](std::uint64_t own) { return own == element; }) &&
           llvm::all_of(steps_, [&](const auto* step) { return is_multiple(*step, element); });
  }
  // The smallest unit of an access; 0 if there is none.
  std::uint64_t unit() const {
    std::uint64_t least = 0;
    for (const llvm::Instruction* access : own.accesses) {
      const std::uint64_t unit = unit_of(accessed_type(*access), layout_);
      least = least == 0 ? unit : std::min(least, unit);
    }
    for (const std::uint64_t unit : held_) least = least == 0 ? unit : std::min(least, unit);
    return least;
  }

  ElementVariable own{};
  std::vector<llvm::MemTransferInst*> copies;
  bool is_known = true;

 private:
  void follow(llvm::Instruction& address) {
    for (llvm::User* user : address.users()) {
      auto* instruction = llvm::cast<llvm::Instruction>(user);
      if (instruction->isLifetimeStartOrEnd()) continue;
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction)) {
        take(*load);
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(instruction)) {
        if (store->getValueOperand() == &address) is_known = false;
        take(*store);
      } else if (auto* fill = llvm::dyn_cast<llvm::MemSetInst>(instruction)) {
        own.fills.push_back(fill);
        is_known = is_known && has_length(*fill) && llvm::isa<llvm::ConstantInt>(fill->getValue());
      } else if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(instruction)) {
        copies.push_back(copy);
        is_known =
            is_known && has_length(*copy) && (!llvm::isa<llvm::MemMoveInst>(copy) || length_of(*copy) <= longest_move);
      } else if (auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(instruction)) {
        steps_.push_back(step);
        follow(*step);
      } else if (!held_in(*instruction, address)) {
        is_known = false;
      }
    }
  }

  // Whether it is an operation on a tile that the thread holds there.
  bool held_in(const llvm::Instruction& instruction, const llvm::Value& address) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const std::size_t before = held_.size();
    for (const ir::Tile& tile : call ? ir::tiles_of(*call) : llvm::SmallVector<ir::Tile, 3>()) {
      if (tile.address == &address) held_.push_back(ir::bytes_of(tile.element));
    }
    return held_.size() > before;
  }

  void take(llvm::Instruction& access) {
    own.accesses.push_back(&access);
    is_known = is_known && unit_of(accessed_type(access), layout_) != 0;
  }

  static bool has_length(const llvm::MemIntrinsic& whole) {
    return llvm::isa<llvm::ConstantInt>(whole.getLength()) && !whole.isVolatile();
  }
  static std::uint64_t length_of(const llvm::MemIntrinsic& whole) {
    return llvm::cast<llvm::ConstantInt>(whole.getLength())->getZExtValue();
  }

  bool is_of(const llvm::Instruction& access, std::uint64_t element) const {
    llvm::Type* type = accessed_type(access);
    const std::uint64_t unit = unit_of(type, layout_);
    if (unit == element && !type->isVectorTy()) return true;
    const std::uint64_t units = layout_.getTypeSizeInBits(type).getFixedValue() / 8 / unit;
    return unit % element == 0 && unit / element <= most_parts && units * (unit / element) <= most_elements &&
           !access.isVolatile() && (unit == element || !type->getScalarType()->isPointerTy());
  }

  bool is_multiple(const llvm::GetElementPtrInst& address, std::uint64_t element) const {
    for (auto step = llvm::gep_type_begin(address); step != llvm::gep_type_end(address); ++step) {
      if (llvm::StructType* structure = step.getStructTypeOrNull()) {
        const auto index = llvm::cast<llvm::ConstantInt>(step.getOperand())->getZExtValue();
        const auto offset = layout_.getStructLayout(structure)->getElementOffset(static_cast<unsigned>(index));
        if (offset % element != 0) return false;
        continue;
      }
      const std::uint64_t stride = step.getSequentialElementStride(layout_).getFixedValue();
      if (stride % element == 0) continue;
      const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(step.getOperand());
      if (!constant || (constant->getZExtValue() * stride) % element != 0) return false;
    }
    return true;
  }

  const llvm::DataLayout& layout_;
  std::vector<llvm::GetElementPtrInst*> steps_;
  std::vector<std::uint64_t> held_;  // bytes of elements of tiles
};

// The largest elements that all of them consist of; 0: there are none.
std::uint64_t common_element(const std::vector<Uses*>& together) {
  std::uint64_t unit = 0;
  for (const Uses* uses : together) {
    if (const std::uint64_t own = uses->unit()) unit = unit == 0 ? own : std::min(unit, own);
  }
  for (std::uint64_t element = unit == 0 ? 4 : unit; element != 0; element /= 2) {
    if (llvm::all_of(together, [&](const Uses* uses) { return uses->consists_of(element); })) return element;
  }
  return 0;
}

}  // namespace

ElementVariables element_variables(llvm::Function& lane) {
  std::vector<std::unique_ptr<Uses>> all;
  llvm::DenseMap<llvm::MemTransferInst*, std::vector<std::size_t>> ends;
  for (llvm::Instruction& instruction : lane.getEntryBlock()) {
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (!variable) continue;
    auto uses = std::make_unique<Uses>(*variable, lane.getDataLayout());
    if (!uses->is_known) continue;
    for (llvm::MemTransferInst* copy : uses->copies) ends[copy].push_back(all.size());
    all.push_back(std::move(uses));
  }
  llvm::EquivalenceClasses<std::size_t> together;
  for (std::size_t i = 0; i < all.size(); ++i) together.insert(i);
  for (const auto& [copy, variables] : ends) together.unionSets(variables.front(), variables.back());

  ElementVariables result;
  llvm::DenseMap<const llvm::Value*, std::uint64_t> elements;
  for (const auto& set : together) {
    if (!set->isLeader()) continue;
    std::vector<Uses*> members;
    for (const std::size_t i : together.members(*set)) members.push_back(all[i].get());
    // If it is one of them that spoils it for the others, each is on its own, and what is copied to them is not.
    const std::uint64_t element = common_element(members);
    for (Uses* uses : members) uses->own.element = element;
  }
  for (auto& uses : all) {
    if (uses->own.element == 0) continue;
    elements[uses->own.variable] = uses->own.element;
    result.variables.push_back(std::move(uses->own));
  }
  for (const auto& uses : all) {
    for (llvm::MemTransferInst* copy : uses->copies) {
      const std::uint64_t from = elements.lookup(llvm::getUnderlyingObject(copy->getRawSource(), 0));
      const std::uint64_t to = elements.lookup(llvm::getUnderlyingObject(copy->getRawDest(), 0));
      const bool is_told = llvm::any_of(result.copies, [&](const ElementCopy& each) { return each.copy == copy; });
      if ((from != 0 || to != 0) && !is_told) result.copies.push_back({copy, from != 0, to != 0, std::max(from, to)});
    }
  }
  return result;
}

}  // namespace metalloid::engines::simd
