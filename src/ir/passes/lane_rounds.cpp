#include "ir/passes/lane_rounds.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/masked_operations.h"
#include "ir/operations.h"

namespace metalloid::ir {
namespace {

using llvm::BasicBlock;
using llvm::CallInst;
using llvm::ConstantInt;
using llvm::Value;

std::string_view name_of(const CallInst& call) { return call.getCalledFunction()->getName(); }

Value* operate(llvm::IRBuilderBase& builder, std::string_view name, llvm::ArrayRef<Value*> operands) {
  llvm::SmallVector<llvm::Type*, 2> types;
  for (Value* operand : operands) types.push_back(operand->getType());
  auto* type = llvm::FunctionType::get(builder.getInt32Ty(), types, /*isVarArg=*/false);
  llvm::FunctionCallee callee = builder.GetInsertBlock()->getModule()->getOrInsertFunction(llvm::StringRef(name), type);
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->addFnAttr(llvm::Attribute::Convergent);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  return builder.CreateCall(callee, operands);
}

// The operation with a mask in front.
llvm::Function* masked_form(llvm::Function& operation) {
  llvm::SmallVector<llvm::Type*, 4> types = {llvm::Type::getInt32Ty(operation.getContext())};
  types.append(operation.getFunctionType()->param_begin(), operation.getFunctionType()->param_end());
  const std::string name = std::string(masked_prefix) + operation.getName().substr(operation_prefix.size()).str();
  auto* type = llvm::FunctionType::get(operation.getReturnType(), types, /*isVarArg=*/false);
  llvm::FunctionCallee masked = operation.getParent()->getOrInsertFunction(name, type);
  auto* function = llvm::cast<llvm::Function>(masked.getCallee());
  function->addFnAttrs(llvm::AttrBuilder(function->getContext(), operation.getAttributes().getFnAttrs()));
  return function;
}

class Rounds {
 public:
  Rounds(llvm::Function& kernel, llvm::ArrayRef<CallInst*> meetings, Value* present, const RoundsRegion& region,
         const MaskedFunctions& functions)
      : kernel_(kernel), present_(present), blocks_(region.blocks), end_(region.end), functions_(functions) {
    for (CallInst* meeting : meetings) {
      (name_of(*meeting) == threadgroup_barrier_name ? barriers_ : others_).push_back({.call = meeting});
    }
  }

  void run() {
    for (Place& place : others_) set_apart(place);
    for (Place& place : barriers_) set_apart(place);
    keep_in_memory();
    llvm::IRBuilder<> start(&kernel_.getEntryBlock(), kernel_.getEntryBlock().begin());
    place_ = start.CreateAlloca(start.getInt32Ty(), nullptr, "place");
    round_ = new_block("round");
    wait_at_end();
    make_round();
    kept_.push_back(place_);
    llvm::DominatorTree dominators(kernel_);
    llvm::PromoteMemToReg(kept_, dominators);
  }

 private:
  struct Place {
    CallInst* call;
    BasicBlock *meeting = nullptr, *behind = nullptr;
  };

  // A block of its own.
  void set_apart(Place& place) {
    place.meeting = llvm::SplitBlock(place.call->getParent(), place.call->getIterator());
    place.behind = llvm::SplitBlock(place.meeting, std::next(place.call->getIterator()));
    blocks_.insert({place.meeting, place.behind});
  }

  // What one block computes for another, as long as blocks change places.
  void keep_in_memory() {
    std::vector<llvm::Instruction*> leaving;
    std::vector<llvm::PHINode*> merges;
    for (llvm::Instruction& instruction : llvm::instructions(kernel_)) {
      if (llvm::isa<llvm::AllocaInst>(instruction) || &instruction == present_) continue;
      auto* merge = llvm::dyn_cast<llvm::PHINode>(&instruction);
      if (merge && merge->getParent() == end_) merges.push_back(merge);
      if (!blocks_.contains(instruction.getParent())) continue;
      const bool leaves = llvm::any_of(instruction.users(), [&](const llvm::User* user) {
        return llvm::cast<llvm::Instruction>(user)->getParent() != instruction.getParent() ||
               llvm::isa<llvm::PHINode>(user);
      });
      if (leaves) leaving.push_back(&instruction);
      if (merge) merges.push_back(merge);
    }
    for (llvm::Instruction* value : leaving) kept_.push_back(llvm::DemoteRegToStack(*value));
    for (llvm::PHINode* merge : merges) {
      if (llvm::AllocaInst* kept = llvm::DemotePHIToStack(merge)) kept_.push_back(kept);
    }
  }

  std::uint32_t end_number() const { return static_cast<std::uint32_t>(others_.size() + barriers_.size()); }

  // Who would come to a place goes to the round.
  void wait(const Place& place, std::uint32_t number) {
    wait(*place.meeting->getSinglePredecessor()->getTerminator(), number);
  }
  void wait(llvm::Instruction& end, std::uint32_t number) {
    llvm::IRBuilder<> builder(&end);
    builder.CreateStore(builder.getInt32(number), place_);
    builder.CreateBr(round_);
    end.eraseFromParent();
  }

  void wait_at_end() {
    if (end_) {
      BasicBlock* leave = new_block("leave");
      for (BasicBlock& block : kernel_) {
        if (blocks_.contains(&block)) block.getTerminator()->replaceSuccessorWith(end_, leave);
      }
      llvm::IRBuilder<> builder(leave);
      builder.CreateStore(builder.getInt32(end_number()), place_);
      builder.CreateBr(round_);
      return;
    }
    for (BasicBlock& block : kernel_) {
      const bool ends = blocks_.contains(&block) && llvm::isa<llvm::ReturnInst>(block.getTerminator());
      if (ends) wait(*block.getTerminator(), end_number());
    }
  }

  BasicBlock* new_block(const char* name) { return BasicBlock::Create(kernel_.getContext(), name, &kernel_); }

  void make_round() {
    llvm::IRBuilder<> builder(round_);
    Value* place = builder.CreateLoad(builder.getInt32Ty(), place_, "place");
    Value* first = operate(builder, lanes_least_name, {present_, place});
    Value* is_here = builder.CreateICmpEQ(place, first);
    Value* lanes = lanes_where(builder, present_, is_here);
    BasicBlock* end = new_block("end");
    llvm::SwitchInst* choice = builder.CreateSwitch(first, end, end_number());
    builder.SetInsertPoint(end);
    if (end_) {
      builder.CreateBr(end_);
    } else {
      builder.CreateRetVoid();
    }
    std::uint32_t number = 0;
    for (Place& other : others_) {
      BasicBlock* come = new_block("come");
      choice->addCase(builder.getInt32(number), come);
      wait(other, number++);
      builder.SetInsertPoint(come);
      builder.CreateCondBr(is_here, other.meeting, round_);
      put_mask(*other.call, lanes, functions_);
    }
    if (!barriers_.empty()) make_barrier(*choice, place);
  }

  void make_barrier(llvm::SwitchInst& choice, Value* place) {
    BasicBlock* meet = new_block("barrier");
    llvm::IRBuilder<> builder(meet);
    llvm::SmallVector<Value*, 3> operands;
    for (unsigned i = 0; i < barriers_.front().call->arg_size(); ++i) operands.push_back(builder.getInt32(operand(i)));
    CallInst* call = builder.CreateCall(barriers_.front().call->getCalledFunction(), operands);
    call->setAttributes(barriers_.front().call->getAttributes());
    call->setDebugLoc(barriers_.front().call->getDebugLoc());
    llvm::SwitchInst* on = builder.CreateSwitch(place, round_, barriers_.size());
    auto number = static_cast<std::uint32_t>(others_.size());
    for (Place& barrier : barriers_) {
      choice.addCase(builder.getInt32(number), meet);
      on->addCase(builder.getInt32(number), barrier.behind);
      wait(barrier, number++);
    }
    for (Place& barrier : barriers_) barrier.meeting->eraseFromParent();
    put_mask(*call, present_, functions_);
  }

  // Of the one barrier: what all have, or what is as strong as any (operations.def).
  std::uint32_t operand(unsigned i) const {
    const auto* same = llvm::dyn_cast<ConstantInt>(barriers_.front().call->getArgOperand(i));
    if (same && llvm::all_of(barriers_, [&](const Place& place) { return place.call->getArgOperand(i) == same; })) {
      return static_cast<std::uint32_t>(same->getZExtValue());
    }
    constexpr std::array<std::uint32_t, 3> strongest = {device_memory | threadgroup_memory | texture_memory,
                                                        static_cast<std::uint32_t>(MemoryOrder::sequential),
                                                        static_cast<std::uint32_t>(MemoryScope::system)};
    return strongest.at(i);
  }

  llvm::Function& kernel_;
  Value* present_;
  llvm::SmallPtrSet<BasicBlock*, 16> blocks_;
  BasicBlock* end_;
  const MaskedFunctions& functions_;
  std::vector<Place> others_, barriers_;
  std::vector<llvm::AllocaInst*> kept_;
  llvm::AllocaInst* place_ = nullptr;
  BasicBlock* round_ = nullptr;
};

}  // namespace

void meet_in_rounds(llvm::Function& kernel, llvm::ArrayRef<CallInst*> meetings, Value* present,
                    const RoundsRegion& region, const MaskedFunctions& functions) {
  Rounds(kernel, meetings, present, region, functions).run();
}

Value* lanes_present(llvm::IRBuilderBase& builder) { return operate(builder, lanes_present_name, {}); }

Value* lanes_where(llvm::IRBuilderBase& builder, Value* mask, Value* holds) {
  return operate(builder, lanes_where_name, {mask, holds});
}

void put_mask(CallInst& meeting, Value* mask, const MaskedFunctions& functions) {
  llvm::Function& callee = *meeting.getCalledFunction();
  if (callee.getName() == llvm::StringRef(turn_end_name)) {
    meeting.eraseFromParent();
    return;
  }
  llvm::Function* own = functions.lookup(&callee);
  llvm::SmallVector<Value*, 4> operands(meeting.args());
  operands.insert(own ? operands.end() : operands.begin(), mask);
  llvm::IRBuilder<> builder(&meeting);
  CallInst* call = builder.CreateCall(own ? own : masked_form(callee), operands);
  if (own) call->setAttributes(meeting.getAttributes());
  call->setDebugLoc(meeting.getDebugLoc());
  if (llvm::isa<llvm::FPMathOperator>(call)) call->copyFastMathFlags(&meeting);
  for (const llvm::Attribute attribute : meeting.getAttributes().getFnAttrs()) call->addFnAttr(attribute);
  call->takeName(&meeting);
  meeting.replaceAllUsesWith(call);
  meeting.eraseFromParent();
}

}  // namespace metalloid::ir
