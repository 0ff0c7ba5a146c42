#include "ir/support/kept_pointers.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>

#include "ir/support/pointer_roots.h"

namespace metalloid::ir {

using llvm::Value;

namespace {

constexpr std::uint64_t slot_bytes = 8;

// How far behind the variable an address is; nothing where that varies.
std::optional<std::uint64_t> fixed_offset(Value* address, const llvm::AllocaInst& memory,
                                          const llvm::DataLayout& layout) {
  llvm::APInt offset(64, 0);
  if (address->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true) != &memory) {
    return std::nullopt;
  }
  return offset.getZExtValue();
}

bool is_of_no_effect(const llvm::Instruction& user) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&user);
  return call && (call->isLifetimeStartOrEnd() || call->isAssumeLikeIntrinsic());
}

bool leads_on(const llvm::Instruction& user) {
  return llvm::isa<llvm::PHINode, llvm::SelectInst>(user) ||
         (user.getType()->isPointerTy() && pointer_below(const_cast<llvm::Instruction*>(&user)));
}

// An argument's address is one wherever it is asked for.
bool is_same_everywhere(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && call->doesNotAccessMemory() && llvm::all_of(call->args(), llvm::IsaPred<llvm::Constant>);
}

bool overlap(std::uint64_t a, std::uint64_t a_bytes, std::uint64_t b, std::uint64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

}  // namespace

KeptPointers::KeptPointers(llvm::Function& function) : function_(function), dominators_(function) {
  followed_ = std::make_unique<PointerRoots>(
      function,
      [this](Value& root) -> std::optional<PointerRoots::Root> {
        llvm::Type* number = llvm::Type::getInt32Ty(function_.getContext());
        if (const auto known = numbers_.find(&root); known != numbers_.end()) {
          return PointerRoots::Root{{llvm::ConstantInt::get(number, known->second)}};
        }
        auto* load = llvm::dyn_cast<llvm::LoadInst>(&root);
        if (!load) return std::nullopt;
        const auto& roots = roots_of(*load);
        if (roots.empty()) return std::nullopt;
        if (roots.size() == 1) return PointerRoots::Root{{llvm::ConstantInt::get(number, number_of(roots.front()))}};
        Value* kept = number_at(*load);
        return kept ? std::optional(PointerRoots::Root{{kept}}) : std::nullopt;
      },
      PointerRoots::Kept::ignore);
}

KeptPointers::~KeptPointers() = default;

unsigned KeptPointers::number_of(Value* root) {
  return numbers_.try_emplace(root, static_cast<unsigned>(numbers_.size())).first->second;
}

KeptPointers::Variable& KeptPointers::variable(llvm::AllocaInst& memory) {
  auto& found = variables_[&memory];
  if (found) return *found;
  Variable& made = *(found = std::make_unique<Variable>());
  look_at(memory, made);
  return made;
}

void KeptPointers::look_at(llvm::AllocaInst& memory, Variable& found) {
  const llvm::DataLayout& layout = function_.getDataLayout();
  const auto bytes_of = [&](llvm::Type* type) { return layout.getTypeStoreSize(type).getKnownMinValue(); };
  llvm::SmallPtrSet<Value*, 16> seen;
  llvm::SmallVector<llvm::Use*, 16> open;
  const auto follow = [&](Value& address) {
    if (!seen.insert(&address).second) return;
    for (llvm::Use& use : address.uses()) open.push_back(&use);
  };
  const auto size = memory.getAllocationSize(layout);
  found.is_lost = !size || size->isScalable();
  follow(memory);
  while (!open.empty() && !found.is_lost) {
    llvm::Use& use = *open.pop_back_val();
    auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
    Value* address = use.get();
    if (!user) {
      found.is_lost = true;
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
      llvm::Type* type = store->getValueOperand()->getType();
      auto& slots = type->isPointerTy() || is_copied(store->getValueOperand()) ? found.pointers : found.others;
      slots.push_back({store, address, fixed_offset(address, memory, layout), bytes_of(type)});
      found.is_lost = use.getOperandNo() != llvm::StoreInst::getPointerOperandIndex();
    } else if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(user)) {
      if (use.getOperandNo() != 0) continue;  // out of it
      const auto* length = llvm::dyn_cast<llvm::ConstantInt>(copy->getLength());
      llvm::AllocaInst* source = variable_behind(copy->getSource());
      const auto to = fixed_offset(address, memory, layout);
      if (source && length) {
        found.copies.push_back(
            {copy, source, to, fixed_offset(copy->getSource(), *source, layout), length->getZExtValue()});
      } else {
        found.others.push_back(
            {copy, address, length ? to : std::nullopt, length ? length->getZExtValue() : slot_bytes});
      }
    } else if (leads_on(*user)) {
      found.is_lost = variable_behind(user) != &memory;
      follow(*user);
    } else if (!llvm::isa<llvm::LoadInst, llvm::MemSetInst, llvm::ICmpInst>(user) && !is_of_no_effect(*user)) {
      found.is_lost = true;  // others may store to it
    }
  }
}

bool KeptPointers::follows(Value* address) {
  llvm::AllocaInst* memory = variable_behind(address);
  return memory && !variable(*memory).is_lost;
}

// Whether eight bytes come from a variable as they are.
bool KeptPointers::is_copied(Value* value) {
  auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
  return load && load->getType()->isIntegerTy(8 * slot_bytes) && variable_behind(load->getPointerOperand());
}

// The one variable that an address leads to.
llvm::AllocaInst* KeptPointers::variable_behind(Value* address) {
  llvm::SmallPtrSet<Value*, 16> seen;
  llvm::SmallVector<Value*, 8> roots;
  find_roots(address, seen, roots);
  return roots.size() == 1 ? llvm::dyn_cast<llvm::AllocaInst>(roots.front()) : nullptr;
}

// The pointers that may lie where a load reads; whether those are all.
bool KeptPointers::collect(llvm::LoadInst& load, llvm::SmallSetVector<Value*, 16>& stored) {
  const llvm::DataLayout& layout = function_.getDataLayout();
  struct Place {
    llvm::AllocaInst* memory;
    std::optional<std::uint64_t> offset;
    bool operator==(const Place&) const = default;
  };
  llvm::AllocaInst* memory = variable_behind(load.getPointerOperand());
  if (!memory) return false;
  std::vector<Place> places = {{memory, fixed_offset(load.getPointerOperand(), *memory, layout)}};
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place place = places[i];
    const Variable& found = variable(*place.memory);
    if (found.is_lost) return false;
    const auto may_meet = [&](std::optional<std::uint64_t> offset, std::uint64_t bytes) {
      return !offset || !place.offset || overlap(*offset, bytes, *place.offset, slot_bytes);
    };
    for (const Slot& slot : found.pointers) {
      if (may_meet(slot.offset, slot.bytes)) stored.insert(llvm::cast<llvm::StoreInst>(slot.access)->getValueOperand());
    }
    for (const Slot& slot : found.others) {
      // Numbers too small for an address lie beside it.
      const bool is_small = slot.bytes < slot_bytes && !(slot.offset && place.offset);
      if (!is_small && may_meet(slot.offset, slot.bytes)) return false;
    }
    for (const Copy& copy : found.copies) {
      if (!may_meet(copy.to, copy.bytes)) continue;
      std::optional<std::uint64_t> from;
      if (place.offset && copy.to && copy.from) from = *place.offset - *copy.to + *copy.from;
      const Place source{copy.source, from};
      if (!llvm::is_contained(places, source)) places.push_back(source);
    }
  }
  return !stored.empty();
}

const llvm::SmallVector<Value*, 2>& KeptPointers::roots_of(llvm::LoadInst& load) {
  if (const auto known = roots_.find(&load); known != roots_.end()) return known->second;
  llvm::SmallPtrSet<Value*, 16> seen;
  llvm::SmallVector<Value*, 8> found;
  llvm::SmallVector<llvm::LoadInst*, 4> open = {&load};
  llvm::SmallSetVector<llvm::LoadInst*, 4> loads;
  bool is_known = load.getType()->isPointerTy() || is_copied(&load);
  while (!open.empty() && is_known) {
    llvm::LoadInst* next = open.pop_back_val();
    if (!loads.insert(next)) continue;
    llvm::SmallSetVector<Value*, 16> stored;
    is_known = collect(*next, stored);
    for (Value* pointer : stored) {
      llvm::SmallVector<Value*, 8> roots;
      find_roots(pointer, seen, roots);
      for (Value* root : roots) {
        auto* kept = llvm::dyn_cast<llvm::LoadInst>(root);
        kept&& variable_behind(kept->getPointerOperand()) ? open.push_back(kept) : found.push_back(root);
      }
    }
  }
  // There wherever it is read, and the same whenever.
  is_known = is_known && llvm::all_of(found, [&](Value* root) {
               if (llvm::isa<llvm::Argument, llvm::GlobalVariable>(root)) return true;
               auto* instruction = llvm::dyn_cast<llvm::Instruction>(root);
               return instruction && dominators_.dominates(instruction, &load) &&
                      (instruction->getParent() == &function_.getEntryBlock() || is_same_everywhere(*instruction));
             });
  auto& kept = roots_[&load];
  if (is_known) kept.assign(found.begin(), found.end());
  for (Value* root : kept) number_of(root);
  return kept;
}

Value* KeptPointers::place_in_numbers(llvm::AllocaInst& numbers, Value* address, llvm::Instruction& before) {
  Value* offset = followed_->offset_of(address);
  llvm::IRBuilder<> builder(&before);
  return builder.CreateGEP(builder.getInt32Ty(), &numbers, builder.CreateLShr(offset, 3));
}

// Has the number of a root stored wherever a pointer is.
bool KeptPointers::keep_numbers(llvm::AllocaInst& memory) {
  Variable& found = variable(memory);
  if (found.numbers) return true;
  if (found.is_lost) return false;
  llvm::IRBuilder<> builder(&memory);
  const std::uint64_t bytes = memory.getAllocationSize(function_.getDataLayout())->getFixedValue();
  llvm::Type* type = llvm::ArrayType::get(builder.getInt32Ty(), (bytes + slot_bytes - 1) / slot_bytes);
  found.numbers = builder.CreateAlloca(type, nullptr, memory.getName() + ".roots");
  for (const Slot& slot : found.pointers) {
    const auto number = followed_->values_of(llvm::cast<llvm::StoreInst>(slot.access)->getValueOperand());
    if (!number || number->empty()) continue;  // of another slot than those that are asked for
    Value* place = place_in_numbers(*found.numbers, slot.address, *slot.access);
    builder.SetInsertPoint(slot.access);
    builder.CreateStore(number->front(), place);
  }
  for (const Copy& copy : found.copies) {
    const bool is_whole = copy.to.value_or(0) % slot_bytes == 0 && copy.from.value_or(0) % slot_bytes == 0;
    if (!is_whole || !keep_numbers(*copy.source)) continue;
    Value* to = place_in_numbers(*found.numbers, copy.instruction->getDest(), *copy.instruction);
    Value* from = place_in_numbers(*variable(*copy.source).numbers, copy.instruction->getSource(), *copy.instruction);
    builder.SetInsertPoint(copy.instruction);
    const llvm::Align align(4);
    builder.CreateMemCpy(to, align, from, align, copy.bytes / slot_bytes * sizeof(std::uint32_t));
  }
  return true;
}

Value* KeptPointers::number_at(llvm::LoadInst& load) {
  llvm::AllocaInst* memory = variable_behind(load.getPointerOperand());
  if (!memory || roots_of(load).empty() || !keep_numbers(*memory)) return nullptr;
  Value* place = place_in_numbers(*variable(*memory).numbers, load.getPointerOperand(), load);
  llvm::IRBuilder<> builder(&load);
  return builder.CreateLoad(builder.getInt32Ty(), place, "root");
}

}  // namespace metalloid::ir
