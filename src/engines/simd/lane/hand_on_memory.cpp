#include "engines/simd/lane/hand_on_memory.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "engines/simd/lane/parameter_memory.h"
#include "engines/simd/vectors/parts.h"
#include "ir/support/change_signature.h"

namespace metalloid::engines::simd {
namespace {

using llvm::Value;

// Elements of a function: each is a vector of its own.
constexpr unsigned most_elements = 64;

struct Element {
  llvm::Type* type = nullptr;
  std::vector<llvm::Instruction*> loads, stores;
  bool comes_in = true;  // else it is written before anybody reads it
};
using Elements = std::map<std::int64_t, Element>;  // by their place, in bytes

// False: it goes elsewhere, or not to a constant place.
bool find_elements(Value& address, std::int64_t place, const llvm::DataLayout& layout, Elements& elements) {
  const auto take = [&](llvm::Instruction& access, llvm::Type* type, bool is_store) {
    Element& element = elements[place];
    if (!element.type) element.type = type;
    (is_store ? element.stores : element.loads).push_back(&access);
    if (layout.getTypeStoreSize(type).getFixedValue() > layout.getTypeStoreSize(element.type).getFixedValue()) {
      element.type = type;
    }
    return !type->isAggregateType();
  };
  return llvm::all_of(address.users(), [&](llvm::User* user) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
      return load->isSimple() && take(*load, load->getType(), false);
    }
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
      Value* value = store->getValueOperand();
      return value != &address && store->isSimple() && take(*store, value->getType(), true);
    }
    auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(user);
    llvm::APInt offset(64, 0);
    if (!step || step->getPointerOperand() != &address || !step->accumulateConstantOffset(layout, offset)) return false;
    return find_elements(*step, place + offset.getSExtValue(), layout, elements);
  });
}

// What lies within another becomes part of it. False: some overlap otherwise.
bool merge_parts(Elements& elements, const llvm::DataLayout& layout) {
  for (auto next = elements.begin(); next != elements.end();) {
    const auto whole = next++;
    const auto end = [&](const auto& one) {
      return one->first + static_cast<std::int64_t>(layout.getTypeStoreSize(one->second.type).getFixedValue());
    };
    while (next != elements.end() && next->first < end(whole)) {
      if (end(next) > end(whole)) return false;
      llvm::append_range(whole->second.loads, next->second.loads);
      llvm::append_range(whole->second.stores, next->second.stores);
      next = elements.erase(next);
    }
  }
  return true;
}

Range range_of(const Elements& elements, const llvm::DataLayout& layout) {
  const auto& [last, element] = *elements.rbegin();
  return {elements.begin()->first,
          last + static_cast<std::int64_t>(layout.getTypeStoreSize(element.type).getFixedValue())};
}

class Handing {
 public:
  explicit Handing(llvm::Function& function) : function_(&function), layout_(function.getDataLayout()) {}

  void run() {
    for (unsigned number = 0; number < function_->arg_size();) {
      if (auto elements = elements_of(*function_->getArg(number))) {
        hand_on(number, *elements);
      } else {
        ++number;
      }
    }
  }

 private:
  std::optional<Elements> elements_of(llvm::Argument& parameter) const {
    Elements elements;
    if (!is_thread_address(parameter) || parameter.hasByValAttr() || parameter.hasStructRetAttr() ||
        !find_elements(parameter, 0, layout_, elements)) {
      return std::nullopt;
    }
    if (elements.empty() || !merge_parts(elements, layout_)) return std::nullopt;
    unsigned parts = 0;
    for (const auto& [place, element] : elements) parts += parts_of(element.type);
    const Range range = range_of(elements, layout_);
    if (parts > most_elements || !is_apart(parameter, range)) return std::nullopt;
    if (!are_reached(elements) && !is_of_variables(parameter, range)) return std::nullopt;
    return elements;
  }

  // Whether each is accessed whatever the function does: then the caller may, too.
  bool are_reached(Elements& elements) const {
    const llvm::DominatorTree dominators(*function_);
    bool result = true;
    for (auto& [place, element] : elements) {
      const std::uint64_t bytes = layout_.getTypeStoreSize(element.type).getFixedValue();
      const auto is_whole = [&](const llvm::Instruction* access) { return bytes_of(*access) == bytes; };
      Blocks blocks;
      for (const llvm::Instruction* access : llvm::concat<llvm::Instruction* const>(element.loads, element.stores)) {
        if (is_whole(access)) blocks.insert(access->getParent());
      }
      result &= is_on_all_ways(blocks);
      element.comes_in = llvm::none_of(element.stores, [&](const llvm::Instruction* store) {
        return is_whole(store) && is_on_all_ways({store->getParent()}) &&
               llvm::all_of(element.loads, [&](const auto* load) { return dominators.dominates(store, load); });
      });
    }
    return result;
  }

  using Blocks = llvm::SmallPtrSet<const llvm::BasicBlock*, 8>;
  // Whether each way to an end goes through one of them.
  bool is_on_all_ways(const Blocks& blocks) const {
    Blocks seen;
    llvm::SmallVector<const llvm::BasicBlock*, 16> next = {&function_->getEntryBlock()};
    while (!next.empty()) {
      const llvm::BasicBlock* block = next.pop_back_val();
      if (blocks.contains(block) || !seen.insert(block).second) continue;
      if (llvm::isa<llvm::ReturnInst>(block->getTerminator())) return false;
      llvm::append_range(next, llvm::successors(block));
    }
    return true;
  }

  void hand_on(unsigned number, const Elements& elements) {
    llvm::Function& old = *function_;
    llvm::SmallVector<llvm::Type*, 8> parameters, results;
    llvm::SmallVector<llvm::AttributeSet, 8> attributes;
    const bool has_result = !old.getReturnType()->isVoidTy();
    if (has_result) results.push_back(old.getReturnType());
    for (llvm::Argument& parameter : old.args()) {
      if (parameter.getArgNo() == number) continue;
      parameters.push_back(parameter.getType());
      attributes.push_back(kept(old.getAttributes(), parameter.getArgNo()));
    }
    const std::size_t others = parameters.size();
    for (const auto& [place, element] : elements) {
      if (element.comes_in) parameters.push_back(element.type);
      if (!element.stores.empty()) results.push_back(element.type);
    }
    // Null: nothing is given back.
    auto* result = results.size() > (has_result ? 1 : 0) ? llvm::StructType::get(old.getContext(), results) : nullptr;
    function_ = &ir::take_over(
        old, llvm::FunctionType::get(result ? result : old.getReturnType(), parameters, /*isVarArg=*/false));
    function_->setAttributes(
        llvm::AttributeList::get(old.getContext(), old.getAttributes().getFnAttrs(), {}, attributes));
    receive(old, number, others, elements);
    if (result) give_back(result, has_result, elements);
    for (llvm::User* user : llvm::make_early_inc_range(old.users())) {
      change_call(*llvm::cast<llvm::CallInst>(user), number, has_result, elements);
    }
    old.eraseFromParent();
  }

  // A parameter's attributes that do not speak of the result.
  llvm::AttributeSet kept(const llvm::AttributeList& attributes, unsigned parameter) const {
    return attributes.getParamAttrs(parameter).removeAttribute(function_->getContext(), llvm::Attribute::Returned);
  }

  // In the place of the caller's memory, a variable.
  void receive(llvm::Function& old, unsigned number, std::size_t next, const Elements& elements) {
    const std::int64_t first = elements.begin()->first;
    const auto& [last, element] = *elements.rbegin();
    const std::int64_t bytes =
        last - first + static_cast<std::int64_t>(layout_.getTypeStoreSize(element.type).getFixedValue());
    llvm::IRBuilder<> builder(&function_->getEntryBlock(), function_->getEntryBlock().begin());
    auto* own = builder.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), static_cast<std::uint64_t>(bytes)));
    own->setAlignment(llvm::Align(16));
    own->takeName(old.getArg(number));
    own_ = first == 0 ? static_cast<Value*>(own) : builder.CreateConstGEP1_64(builder.getInt8Ty(), own, -first);
    for (llvm::Argument& before : old.args()) {
      const unsigned at = before.getArgNo();
      Value* now = at == number ? own_ : function_->getArg(at < number ? at : at - 1);
      if (at != number) now->takeName(&before);
      before.replaceAllUsesWith(now);
    }
    builder.SetInsertPoint(&function_->getEntryBlock(), function_->getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    if (auto* shifted = llvm::dyn_cast<llvm::Instruction>(own_); shifted && shifted != own) {
      builder.SetInsertPoint(shifted->getNextNode());
    }
    for (const auto& [place, each] : elements) {
      if (each.comes_in)
        builder.CreateAlignedStore(function_->getArg(next++), at(builder, own_, place), llvm::Align(1));
    }
  }

  void give_back(llvm::StructType* type, bool has_result, const Elements& elements) {
    for (llvm::BasicBlock& block : *function_) {
      auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator());
      if (!end) continue;
      llvm::IRBuilder<> builder(end);
      Value* all = llvm::PoisonValue::get(type);
      unsigned next = 0;
      if (has_result) all = builder.CreateInsertValue(all, end->getReturnValue(), next++);
      for (const auto& [place, element] : elements) {
        if (element.stores.empty()) continue;
        Value* value = builder.CreateAlignedLoad(element.type, at(builder, own_, place), llvm::Align(1));
        all = builder.CreateInsertValue(all, value, next++);
      }
      builder.CreateRet(all);
      end->eraseFromParent();
    }
  }

  void change_call(llvm::CallInst& call, unsigned number, bool has_result, const Elements& elements) {
    llvm::IRBuilder<> builder(&call);
    Value* address = call.getArgOperand(number);
    llvm::SmallVector<Value*, 16> operands;
    llvm::SmallVector<llvm::AttributeSet, 8> attributes;
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      if (i == number) continue;
      operands.push_back(call.getArgOperand(i));
      attributes.push_back(kept(call.getAttributes(), i));
    }
    for (const auto& [place, element] : elements) {
      if (!element.comes_in) continue;
      operands.push_back(builder.CreateAlignedLoad(element.type, at(builder, address, place), llvm::Align(1)));
    }
    llvm::CallInst* made = builder.CreateCall(function_, operands);
    made->setAttributes(llvm::AttributeList::get(call.getContext(), call.getAttributes().getFnAttrs(), {}, attributes));
    made->setCallingConv(call.getCallingConv());
    unsigned next = 0;
    if (has_result) {
      const bool is_alone = made->getType() == call.getType();
      call.replaceAllUsesWith(is_alone ? static_cast<Value*>(made) : builder.CreateExtractValue(made, next++));
    }
    for (const auto& [place, element] : elements) {
      if (element.stores.empty()) continue;
      builder.CreateAlignedStore(builder.CreateExtractValue(made, next++), at(builder, address, place), llvm::Align(1));
    }
    call.eraseFromParent();
  }

  static Value* at(llvm::IRBuilder<>& builder, Value* address, std::int64_t place) {
    if (place == 0) return address;
    return builder.CreateGEP(builder.getInt8Ty(), address, builder.getInt64(static_cast<std::uint64_t>(place)));
  }

  llvm::Function* function_;
  const llvm::DataLayout& layout_;
  Value* own_ = nullptr;
};

}  // namespace

void hand_on_memory(const std::vector<llvm::Function*>& functions) {
  for (llvm::Function* function : llvm::reverse(functions)) Handing(*function).run();
}

}  // namespace metalloid::engines::simd
