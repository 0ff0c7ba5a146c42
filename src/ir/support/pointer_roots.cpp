#include "ir/support/pointer_roots.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/Utils/Local.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <cstddef>
#include <utility>

#include "ir/support/kept_pointers.h"

namespace metalloid::ir {

using llvm::Value;

Value* pointer_below(Value* pointer) {
  auto* user = llvm::dyn_cast<llvm::Operator>(pointer);
  if (!user || pointer->getType()->isVectorTy()) return nullptr;
  switch (user->getOpcode()) {
    case llvm::Instruction::GetElementPtr:
    case llvm::Instruction::AddrSpaceCast:
    case llvm::Instruction::BitCast:
    case llvm::Instruction::Freeze: return user->getOperand(0);
    default: break;
  }
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(pointer);
  switch (call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic) {
    case llvm::Intrinsic::launder_invariant_group:
    case llvm::Intrinsic::ptr_annotation:
    case llvm::Intrinsic::ssa_copy:
    case llvm::Intrinsic::strip_invariant_group: return call->getArgOperand(0);
    default: return nullptr;
  }
}

namespace {

// The pointers that a pointer may be.
llvm::SmallVector<Value*, 4> ways_of(Value* pointer) {
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(pointer)) {
    return llvm::SmallVector<Value*, 4>(phi->incoming_values().begin(), phi->incoming_values().end());
  }
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(pointer))
    return {select->getTrueValue(), select->getFalseValue()};
  return {};
}

llvm::Value* choose(llvm::SelectInst& select, Value* yes, Value* no) {
  if (yes == no) return yes;
  llvm::IRBuilder<> builder(select.getNextNode());
  builder.SetCurrentDebugLocation(select.getDebugLoc());
  return builder.CreateSelect(select.getCondition(), yes, no);
}

llvm::PHINode* parallel_phi(llvm::PHINode& phi, llvm::Type* type) {
  llvm::PHINode* made = llvm::PHINode::Create(type, phi.getNumIncomingValues(), "", phi.getIterator());
  made->setDebugLoc(phi.getDebugLoc());
  return made;
}

}  // namespace

void find_roots(Value* pointer, llvm::SmallPtrSetImpl<Value*>& seen, llvm::SmallVectorImpl<Value*>& roots) {
  llvm::SmallVector<Value*, 16> open = {pointer};
  while (!open.empty()) {
    Value* next = open.pop_back_val();
    if (!seen.insert(next).second) continue;
    if (Value* below = pointer_below(next)) {
      open.push_back(below);
    } else if (const auto ways = ways_of(next); !ways.empty()) {
      open.append(ways.begin(), ways.end());
    } else if (!llvm::isa<llvm::UndefValue>(next)) {  // nobody may use an address that is undefined
      roots.push_back(next);
    }
  }
}

PointerRoots::PointerRoots(llvm::Function& function, Describe describe, Kept kept)
    : function_(function), describe_(std::move(describe)), follows_kept_(kept) {}

PointerRoots::~PointerRoots() = default;

const std::optional<PointerRoots::Root>& PointerRoots::describe(Value* root) {
  const auto found = described_.find(root);
  if (found != described_.end()) return found->second;
  std::optional<Root> description = describe_(*root);
  auto* load = llvm::dyn_cast<llvm::LoadInst>(root);
  if (!description && load && follows_kept_ == Kept::follow) description = describe_kept(*load);
  return described_.try_emplace(root, std::move(description)).first->second;
}

// By which of its roots it is, and how far from that.
std::optional<PointerRoots::Root> PointerRoots::describe_kept(llvm::LoadInst& load) {
  if (!kept_) kept_ = std::make_unique<KeptPointers>(function_);
  const llvm::SmallVector<Value*, 2> roots = kept_->roots_of(load);
  if (roots.empty()) return std::nullopt;
  llvm::SmallVector<Root, 2> known;
  for (Value* root : roots) {
    const std::optional<Root>& own = describe(root);
    if (!own) return std::nullopt;
    known.push_back(*own);
  }
  Value* which = roots.size() > 1 ? kept_->number_at(load) : nullptr;
  if (roots.size() > 1 && !which) return std::nullopt;
  llvm::IRBuilder<> builder(load.getNextNode());
  builder.SetCurrentDebugLocation(load.getDebugLoc());
  const auto choose_among = [&](auto&& value_of) {
    Value* chosen = value_of(0);
    for (std::size_t i = 1; i < roots.size(); ++i) {
      Value* other = value_of(i);
      if (other == chosen) continue;
      chosen = builder.CreateSelect(builder.CreateICmpEQ(which, builder.getInt32(kept_->number_of(roots[i]))), other,
                                    chosen);
    }
    return chosen;
  };
  Root description;
  for (std::size_t i = 0; i < known.front().values.size(); ++i) {
    description.values.push_back(choose_among([&](std::size_t root) { return known[root].values[i]; }));
  }
  llvm::Type* number = builder.getInt64Ty();
  // Numbers of one space: an address has another one in each.
  const auto number_of = [&](Value* address) {
    const bool is_one = llvm::all_of(roots, [&](Value* root) { return root->getType() == load.getType(); });
    Value* plain = is_one ? address : builder.CreateAddrSpaceCast(address, builder.getPtrTy());
    return builder.CreatePtrToInt(plain, number);
  };
  Value* begin = choose_among([&](std::size_t root) {
    Value* address = number_of(roots[root]);
    return known[root].offset ? builder.CreateSub(address, known[root].offset) : address;
  });
  description.offset = builder.CreateSub(number_of(&load), begin);
  return description;
}

std::optional<llvm::SmallVector<Value*, 4>> PointerRoots::values_of(Value* pointer) {
  while (Value* below = pointer_below(pointer)) pointer = below;
  if (const auto found = values_.find(pointer); found != values_.end()) {
    if (!found->second) return std::nullopt;
    return llvm::SmallVector<Value*, 4>(found->second->begin(), found->second->end());
  }
  llvm::SmallPtrSet<Value*, 16> seen;
  llvm::SmallVector<Value*, 8> roots;
  find_roots(pointer, seen, roots);
  if (roots.empty() || !llvm::all_of(roots, [&](Value* root) { return describe(root).has_value(); })) {
    values_[pointer] = std::nullopt;
    return std::nullopt;
  }
  return merge(pointer);
}

// Where all ways agree the value is there already: it is there at the end of every way in.
llvm::SmallVector<Value*, 4> PointerRoots::merge(Value* pointer) {
  while (Value* below = pointer_below(pointer)) pointer = below;
  if (const auto found = values_.find(pointer); found != values_.end() && found->second) {
    return llvm::SmallVector<Value*, 4>(found->second->begin(), found->second->end());
  }
  llvm::SmallPtrSet<Value*, 16> seen;
  llvm::SmallVector<Value*, 8> roots;
  find_roots(pointer, seen, roots);
  llvm::SmallVector<Value*, 4> values;
  if (roots.empty()) return values;  // undefined: the other ways say what there is
  values = describe(roots.front())->values;
  llvm::SmallVector<bool, 4> agrees(values.size(), true);
  for (Value* root : roots) {
    const auto& other = describe(root)->values;
    for (std::size_t i = 0; i < values.size(); ++i) agrees[i] = agrees[i] && other[i] == values[i];
  }
  auto* phi = llvm::dyn_cast<llvm::PHINode>(pointer);
  if (phi) {
    // There before its ways are followed, which may lead back here.
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!agrees[i]) values[i] = parallel_phi(*phi, values[i]->getType());
    }
  }
  const auto of_way = [&](Value* way, std::size_t i) -> Value* {
    const auto own = merge(way);
    return own.empty() ? llvm::PoisonValue::get(values[i]->getType()) : own[i];
  };
  if (!phi && llvm::is_contained(agrees, false)) {
    auto& select = *llvm::cast<llvm::SelectInst>(pointer);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (agrees[i]) continue;
      Value *yes = of_way(select.getTrueValue(), i), *no = of_way(select.getFalseValue(), i);
      values[i] = choose(select, yes, no);
    }
  }
  values_[pointer] = Tracked(values.begin(), values.end());
  if (phi) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (agrees[i]) continue;
      for (unsigned way = 0; way < phi->getNumIncomingValues(); ++way) {
        Value* incoming = of_way(phi->getIncomingValue(way), i);
        llvm::cast<llvm::PHINode>(values[i])->addIncoming(incoming, phi->getIncomingBlock(way));
      }
    }
  }
  return values;
}

Value* PointerRoots::offset_of(Value* pointer) {
  // Long chains of steps are followed without recursion.
  llvm::SmallVector<Value*, 8> chain = {pointer};
  while (!offsets_.lookup(chain.back())) {
    Value* below = pointer_below(chain.back());
    if (!below) break;
    chain.push_back(below);
  }
  Value* offset = nullptr;
  for (Value* link : llvm::reverse(chain)) {
    offset = offsets_.lookup(link);
    if (offset) continue;
    offset = derive_offset(link);
    offsets_[link] = offset;
  }
  return offset;
}

// What it is made of has its offset already.
Value* PointerRoots::derive_offset(Value* pointer) {
  llvm::Type* type = llvm::Type::getInt64Ty(function_.getContext());
  if (llvm::isa<llvm::UndefValue>(pointer)) return llvm::PoisonValue::get(type);
  if (Value* below = pointer_below(pointer)) {
    Value* offset = offset_of(below);
    auto* step = llvm::dyn_cast<llvm::GEPOperator>(pointer);
    if (!step) return offset;
    llvm::IRBuilder<> builder(function_.getContext());
    if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(pointer)) builder.SetInsertPoint(instruction);
    const llvm::DataLayout& layout = function_.getDataLayout();
    Value* own = llvm::emitGEPOffset(&builder, layout, step, /*NoAssumptions=*/true);
    return builder.CreateAdd(offset, builder.CreateSExtOrTrunc(own, type));
  }
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(pointer)) {
    llvm::PHINode* made = parallel_phi(*phi, type);
    offsets_[pointer] = made;
    for (unsigned way = 0; way < phi->getNumIncomingValues(); ++way) {
      made->addIncoming(offset_of(phi->getIncomingValue(way)), phi->getIncomingBlock(way));
    }
    Value* common = made->hasConstantValue();
    if (!common || llvm::isa<llvm::Instruction>(common)) return made;
    made->replaceAllUsesWith(common);
    made->eraseFromParent();
    return common;
  }
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(pointer)) {
    Value *yes = offset_of(select->getTrueValue()), *no = offset_of(select->getFalseValue());
    return choose(*select, yes, no);
  }
  const auto& root = describe(pointer);
  return root && root->offset ? root->offset : llvm::ConstantInt::get(type, 0);
}

}  // namespace metalloid::ir
