#include "ir/passes/meeting_functions.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Local.h>

#include <string_view>

#include "ir/operations.h"
#include "ir/support/change_signature.h"
#include "ir/support/lane_uniformity.h"
#include "ir/support/pass_down.h"

namespace metalloid::ir {
namespace {

using llvm::BasicBlock;
using llvm::CallInst;

bool is_barrier(llvm::StringRef name) { return name == llvm::StringRef(threadgroup_barrier_name); }
bool is_turn_end(llvm::StringRef name) { return name == llvm::StringRef(turn_end_name); }
bool is_of_lanes(llvm::StringRef name) {
  return is_meeting(std::string_view(name)) && !is_barrier(name) && !is_turn_end(name);
}

const CallInst* first_call(const llvm::Function& function, llvm::function_ref<bool(llvm::StringRef)> is_wanted) {
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    const auto* call = llvm::dyn_cast<CallInst>(&instruction);
    if (call && call->getCalledFunction() && is_wanted(call->getCalledFunction()->getName())) return call;
  }
  return nullptr;
}

// Blocks from where a function leaves become ones that lead to one.
void unify_returns(llvm::Function& function) {
  llvm::SmallVector<llvm::ReturnInst*, 4> returns;
  for (BasicBlock& block : function) {
    if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator())) returns.push_back(end);
  }
  if (returns.empty()) return;
  auto* end = BasicBlock::Create(function.getContext(), "returned", &function);
  llvm::IRBuilder<> builder(end);
  llvm::PHINode* value = nullptr;
  if (!function.getReturnType()->isVoidTy()) value = builder.CreatePHI(function.getReturnType(), returns.size());
  value ? builder.CreateRet(value) : builder.CreateRetVoid();
  for (llvm::ReturnInst* before : returns) {
    if (value) value->addIncoming(before->getReturnValue(), before->getParent());
    builder.SetInsertPoint(before);
    builder.CreateBr(end);
    before->eraseFromParent();
  }
}

void drop_turn_ends(BasicBlock& block) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
    auto* call = llvm::dyn_cast<CallInst>(&instruction);
    if (call && call->getCalledFunction() && is_turn_end(call->getCalledFunction()->getName())) call->eraseFromParent();
  }
}

// All that can be reached from a block's end in front of another one.
void add_reached(BasicBlock& block, const BasicBlock* end, llvm::SmallPtrSetImpl<BasicBlock*>& reached) {
  llvm::SmallVector<BasicBlock*, 16> open = {&block};
  while (!open.empty()) {
    for (BasicBlock* next : llvm::successors(open.pop_back_val())) {
      if (next != end && reached.insert(next).second) open.push_back(next);
    }
  }
}

}  // namespace

MeetingFunctions::MeetingFunctions(KernelModule& kernel)
    : module_(*kernel.module),
      info_(kernel.info),
      kernel_(*module_.getFunction(kernel.info.symbol)),
      of_lanes_(functions_that_lead_to(module_, [](llvm::StringRef name) { return is_of_lanes(name); })),
      of_barriers_(functions_that_lead_to(module_, [](llvm::StringRef name) { return is_barrier(name); })) {
  of_lanes_.erase(&kernel_);
  of_barriers_.erase(&kernel_);
}

bool MeetingFunctions::leads_to_lanes(const CallInst& call) const {
  llvm::Function* callee = call.getCalledFunction();
  return callee && (is_of_lanes(callee->getName()) || of_lanes_.contains(callee));
}

// Blocks of the kernel that not all lanes of a simdgroup need come to at once.
MeetingFunctions::BlockSet MeetingFunctions::where_lanes_part() const {
  const LaneUniformity uniformity(kernel_, info_);
  const llvm::PostDominatorTree ends(kernel_);
  BlockSet parted;
  for (BasicBlock& block : kernel_) {
    if (!uniformity.diverges(block)) continue;
    const auto* node = ends.getNode(&block);
    const BasicBlock* end = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    add_reached(block, end, parted);
  }
  return parted;
}

// Lanes of one simdgroup may be at a barrier, or at different ones, and go on to where they wait for the others.
const CallInst* MeetingFunctions::look_behind_barriers() {
  const BlockSet parted = where_lanes_part();
  for (BasicBlock& block : kernel_) {
    bool is_behind = false;
    for (llvm::Instruction& instruction : block) {
      const auto* call = llvm::dyn_cast<CallInst>(&instruction);
      if (!call || !call->getCalledFunction()) continue;
      if (is_behind && leads_to_lanes(*call)) return call;
      is_behind |= of_barriers_.contains(call->getCalledFunction()) ||
                   (parted.contains(&block) && is_barrier(call->getCalledFunction()->getName()));
    }
    if (is_behind) add_reached(block, nullptr, behind_barriers_);
  }
  for (BasicBlock* block : behind_barriers_) {
    for (llvm::Instruction& instruction : *block) {
      const auto* call = llvm::dyn_cast<CallInst>(&instruction);
      if (call && leads_to_lanes(*call)) return call;
    }
  }
  return nullptr;
}

const CallInst* MeetingFunctions::refused() {
  for (llvm::Function* function : of_lanes_) {
    if (!is_only_called(*function)) return first_call(*function, is_of_lanes);
    if (!of_barriers_.contains(function)) continue;
    for (llvm::Function* other : of_barriers_) {
      if (const CallInst* barrier = first_call(*other, is_barrier)) return barrier;
    }
  }
  return of_barriers_.empty() ? nullptr : look_behind_barriers();
}

void MeetingFunctions::add_masks() {
  llvm::SmallVector<llvm::Function*, 8> widened;
  for (llvm::Function& function : module_) {
    if (of_lanes_.contains(&function)) {
      widened.push_back(&function);
    } else if (&function == &kernel_) {
      for (BasicBlock* block : behind_barriers_) drop_turn_ends(*block);
    } else {
      for (BasicBlock& block : function) drop_turn_ends(block);
    }
  }
  for (llvm::Function* function : widened) {
    llvm::removeUnreachableBlocks(*function);
    unify_returns(*function);
    llvm::Function& wider = widen(*function, llvm::Type::getInt32Ty(module_.getContext()));
    wider.getArg(wider.arg_size() - 1)->setName("lanes");
    masked_[function] = &wider;
  }
}

void MeetingFunctions::erase() {
  for (const auto& [before, after] : masked_) before->eraseFromParent();
}

bool MeetingFunctions::is_meeting(const CallInst& call) const {
  llvm::Function* callee = call.getCalledFunction();
  if (!callee) return false;
  if (masked_.contains(callee)) return true;
  if (is_barrier(callee->getName()) && !of_barriers_.empty()) return false;
  return ir::is_meeting(std::string_view(callee->getName()));
}

}  // namespace metalloid::ir
