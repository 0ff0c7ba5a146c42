#include "checker/code/follow_undefined.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <optional>

#include "checker/code/calls.h"
#include "checker/code/operations.h"
#include "checker/code/undefined_bits.h"
#include "checker/code/undefined_memory.h"
#include "checker/code/undefined_sources.h"
#include "metalloid/check.h"

namespace metalloid::checker {
namespace {

using llvm::Value;

bool is_zero(const Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  return constant && constant->isNullValue();
}

class Follower {
 public:
  Follower(llvm::Function& function, bool tells)
      : function_(function),
        module_(*function.getParent()),
        layout_(module_.getDataLayout()),
        tells_(tells),
        builder_(module_.getContext()),
        sources_(function),
        order_(function) {}

  void run() {
    llvm::SmallVector<llvm::Instruction*, 256> instructions;
    for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function_)) {
      for (llvm::Instruction& instruction : *block) instructions.push_back(&instruction);
    }
    memory_.emplace(function_, sources_, builder_, tells_);  // its code is not the kernel's
    for (llvm::Instruction* instruction : instructions) visit(*instruction);
    for (auto& [phi, bits, origin] : phis_) {
      for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
        Value* incoming = phi->getIncomingValue(i);
        bits->addIncoming(bits_of(incoming), phi->getIncomingBlock(i));
        origin->addIncoming(origin_of(incoming), phi->getIncomingBlock(i));
      }
    }
    for (llvm::Instruction* instruction : done_) instruction->eraseFromParent();
    for (llvm::CallInst* beginning : sources_.beginnings()) {
      auto* variable = llvm::dyn_cast<llvm::AllocaInst>(beginning->getArgOperand(0));
      builder_.SetInsertPoint(beginning);
      if (variable && !memory_->has(*variable)) memory_->clear(*variable);
      beginning->eraseFromParent();
    }
  }

 private:
  struct Undefined {
    Value *bits, *origin;
  };
  struct Phi {
    llvm::PHINode *phi, *bits, *origin;
  };

  std::uint64_t size_of(llvm::Type* type) const { return layout_.getTypeStoreSize(type).getFixedValue(); }

  // ---- values

  Value* bits_of(Value* value) {
    const auto found = values_.find(value);
    return found == values_.end() ? no_bits(value->getType()) : found->second.bits;
  }
  Value* origin_of(Value* value) {
    const auto found = values_.find(value);
    return found == values_.end() ? builder_.getInt32(0) : found->second.origin;
  }

  // A number for where something undefined begins.
  Value* new_origin(CheckClass kind, llvm::StringRef name, const llvm::Instruction& place) {
    if (!tells_) return builder_.getInt32(1);
    llvm::LLVMContext& context = module_.getContext();
    const llvm::DILocation* location = place.getDebugLoc().get();
    // Code that was merged has no line: who uses it has one.
    if (!location || location->getLine() == 0) {
      for (const llvm::User* user : place.users()) {
        const llvm::DILocation* other = llvm::cast<llvm::Instruction>(user)->getDebugLoc().get();
        if (other && other->getLine() != 0) location = other;
      }
    }
    auto* all = module_.getOrInsertNamedMetadata(llvm::StringRef(origins_name));
    all->addOperand(
        llvm::MDNode::get(context, {llvm::ConstantAsMetadata::get(builder_.getInt32(static_cast<std::uint32_t>(kind))),
                                    llvm::MDString::get(context, name), const_cast<llvm::DILocation*>(location)}));
    return builder_.getInt32(all->getNumOperands());
  }

  llvm::StringRef name_of_variable(Value* address) {
    const auto variables = sources_.variables_of(address);
    // The one that begins undefined, rather than a copy.
    for (llvm::AllocaInst* variable : variables) {
      if (sources_.begin_undefined().contains(variable)) return source_name(*variable);
    }
    return variables.empty() ? llvm::StringRef() : source_name(*variables.front());
  }
  static llvm::StringRef source_name(const llvm::AllocaInst& variable) { return variable.getName().split('.').first; }

  void visit(llvm::Instruction& instruction) {
    ask(instruction);
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      write(*store);
    } else if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) {
      write(*memory);
    } else if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && !is_pure(*call)) {
      hand_over(*call);
    }
    if (sources_.may_be_undefined(instruction)) compute(instruction);
  }

  void compute(llvm::Instruction& instruction) {
    llvm::Type* bits_type = type_of_bits(instruction.getType());
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
      builder_.SetInsertPoint(phi);
      auto* bits = builder_.CreatePHI(bits_type, phi->getNumIncomingValues());
      auto* origin = builder_.CreatePHI(builder_.getInt32Ty(), phi->getNumIncomingValues());
      values_[phi] = {bits, origin};
      phis_.push_back({phi, bits, origin});
      return;
    }
    builder_.SetInsertPoint(instruction.getNextNode());
    builder_.SetCurrentDebugLocation(instruction.getDebugLoc());
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      const auto place = memory_->place_of(load->getPointerOperand(), load->getType());
      if (!place) return;
      Value* own = new_origin(CheckClass::uninitialised, name_of_variable(load->getPointerOperand()), *load);
      Value* origin = memory_->load_origin(*place, size_of(load->getType()), own);
      values_[load] = {memory_->load_bits(load->getType(), place->bits), origin};
    } else if (is_division_check(instruction)) {
      divide(llvm::cast<llvm::CallInst>(instruction));
    } else if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && !is_pure(*call)) {
      values_[call] = {bits_of(call->getArgOperand(0)), origin_of(call->getArgOperand(0))};  // a check of an access
    } else {
      values_[&instruction] = {result_bits(builder_, instruction, [&](Value* value) { return bits_of(value); }),
                               first_origin(instruction)};
    }
  }

  // Of the first operand that is undefined.
  Value* first_origin(llvm::Instruction& instruction) {
    Value *origin = nullptr, *bits = nullptr;
    for (Value* operand : instruction.operand_values()) {
      if (!values_.contains(operand)) continue;
      Value* next = origin_of(operand);
      if (origin && next != origin) next = builder_.CreateSelect(any_bit(builder_, bits), origin, next);
      bits = bits_of(operand);
      origin = next;
    }
    return origin ? origin : builder_.getInt32(0);
  }

  void divide(llvm::CallInst& check) {
    Value *result = check.getArgOperand(0), *holds = check.getArgOperand(1);
    const auto* computed = llvm::dyn_cast<llvm::CallInst>(&check);
    Value* fails = builder_.CreateNot(holds);
    Value* open = builder_.CreateSExt(fails, type_of_bits(check.getType()));
    Value* origin = new_origin(CheckClass::division_by_zero, "", *computed);
    if (values_.contains(result)) {
      Value* any = fails->getType()->isVectorTy() ? builder_.CreateOrReduce(fails) : fails;
      origin = builder_.CreateSelect(any, origin, origin_of(result));
    }
    values_[&check] = {builder_.CreateOr(bits_of(result), open), origin};
    done_.push_back(&check);
    check.replaceAllUsesWith(result);
    values_[result] = values_[&check];
  }

  // ---- memory

  void write(llvm::StoreInst& store) {
    builder_.SetInsertPoint(&store);
    builder_.SetCurrentDebugLocation(store.getDebugLoc());
    Value* value = store.getValueOperand();
    llvm::Type* type = value->getType();
    if (!type_of_bits(type)) return;
    const auto place = memory_->place_of(store.getPointerOperand(), type);
    if (!place) return;
    memory_->store_bits(type, bits_of(value), place->bits);
    Value* origin = origin_of(value);
    // Of a value that is defined after all there is none.
    if (tells_ && !is_zero(origin)) {
      origin = builder_.CreateSelect(any_bit(builder_, bits_of(value)), origin, builder_.getInt32(0));
    }
    memory_->store_origin(origin, *place, size_of(type));
  }

  void write(llvm::MemIntrinsic& memory) {
    builder_.SetInsertPoint(&memory);
    builder_.SetCurrentDebugLocation(memory.getDebugLoc());
    Value* length = builder_.CreateZExtOrTrunc(memory.getLength(), builder_.getInt64Ty());
    auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&memory);
    const auto from = copy ? memory_->place_of(copy->getRawSource(), length) : std::nullopt;
    const auto to = memory_->place_of(memory.getRawDest(), length);
    if (from && to) {
      memory_->copy(*from, *to);
    } else if (to) {
      memory_->set_written(*to);
    } else if (from && !leads_to_thread(copy->getRawDest())) {
      ask_for_bytes(*copy, *from);
    }
  }

  // A struct goes to other memory, where it may be used.
  void ask_for_bytes(llvm::MemTransferInst& copy, const UndefinedMemory::Place& from) {
    constexpr std::uint64_t largest = 512;  // bytes
    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(copy.getLength());
    if (!length || length->isZero() || length->getZExtValue() > largest) return;
    auto* bytes = llvm::FixedVectorType::get(builder_.getInt8Ty(), static_cast<unsigned>(length->getZExtValue()));
    Value* any = any_bit(builder_, builder_.CreateAlignedLoad(bytes, from.bits, llvm::Align(1)));
    Value* origin = new_origin(CheckClass::uninitialised, name_of_variable(copy.getRawSource()), copy);
    origin = memory_->load_origin(from, length->getZExtValue(), origin);
    call_used(any, origin);
  }

  // Who is called with a variable's address may write it.
  void hand_over(llvm::CallInst& call) {
    const llvm::Function* callee = call.getCalledFunction();
    if (llvm::isa<llvm::IntrinsicInst>(call) ||
        (callee && callee->getName().starts_with(llvm::StringRef(check_prefix))))
      return;
    for (Value* operand : call.args()) {
      if (!operand->getType()->isPointerTy()) continue;
      for (llvm::AllocaInst* variable : sources_.variables_of(operand)) {
        builder_.SetInsertPoint(&call);
        memory_->set_written(*variable);
      }
    }
  }

  // ---- uses

  void ask(llvm::Instruction& instruction) {
    if (auto* branch = llvm::dyn_cast<llvm::BranchInst>(&instruction)) {
      if (branch->isConditional()) ask_for(branch->getCondition(), instruction);
    } else if (auto* choice = llvm::dyn_cast<llvm::SwitchInst>(&instruction)) {
      ask_for(choice->getCondition(), instruction);
    } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      ask_for(load->getPointerOperand(), instruction);
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      ask_for(store->getPointerOperand(), instruction);
      if (sources_.variables_of(store->getPointerOperand()).empty() && !leads_to_thread(store->getPointerOperand())) {
        ask_for(store->getValueOperand(), instruction);
      }
    } else if (auto* element = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction)) {
      ask_for(element->getIndexOperand(), instruction);
    } else if (llvm::isa<llvm::InsertElementInst>(instruction)) {
      ask_for(instruction.getOperand(2), instruction);
    } else if (llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction)) {
      for (Value* operand : instruction.operand_values()) ask_for(operand, instruction);
    } else if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      ask_for_operands(*call);
    }
  }

  // Of variables whose accesses are not all known, too.
  static bool leads_to_thread(Value* address) {
    return llvm::any_of(roots_of(address), llvm::IsaPred<llvm::AllocaInst>);
  }

  void ask_for_operands(llvm::CallInst& call) {
    const llvm::Function* callee = call.getCalledFunction();
    if (is_pure(call) || (callee && callee->getName().starts_with(llvm::StringRef(check_prefix)))) return;
    if (llvm::isa<llvm::IntrinsicInst>(call) && !llvm::isa<llvm::MemIntrinsic>(call)) return;
    for (Value* operand : call.args()) {
      if (!operand->getType()->isAggregateType()) ask_for(operand, call);
    }
  }

  void ask_for(Value* value, llvm::Instruction& use) {
    const auto found = values_.find(value);
    if (found == values_.end()) return;
    auto& asked = asked_[value];
    if (llvm::any_of(asked, [&](llvm::Instruction* before) { return order_.dominates(before, &use); })) return;
    asked.push_back(&use);
    builder_.SetInsertPoint(&use);
    builder_.SetCurrentDebugLocation(use.getDebugLoc());
    const Undefined own = found->second;
    call_used(any_bit(builder_, own.bits), own.origin);
  }

  void call_used(Value* any, Value* origin) {
    if (is_zero(any)) return;
    builder_.CreateCall(
        operation(module_, check_used_name, builder_.getVoidTy(), {builder_.getInt1Ty(), builder_.getInt32Ty()}),
        {builder_.CreateNot(any), origin});
  }

  llvm::Function& function_;
  llvm::Module& module_;
  const llvm::DataLayout& layout_;
  const bool tells_;
  llvm::IRBuilder<> builder_;
  UndefinedSources sources_;
  std::optional<UndefinedMemory> memory_;
  llvm::DominatorTree order_;
  llvm::DenseMap<Value*, Undefined> values_;
  llvm::DenseMap<Value*, llvm::SmallVector<llvm::Instruction*, 2>> asked_;
  llvm::SmallVector<Phi, 16> phis_;
  llvm::SmallVector<llvm::Instruction*, 8> done_;
};

}  // namespace

void follow_undefined(llvm::Module& module, bool tells) {
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) Follower(function, tells).run();
  }
}

}  // namespace metalloid::checker
