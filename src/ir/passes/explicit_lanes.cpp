#include "ir/passes/explicit_lanes.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Local.h>

#include <string_view>
#include <vector>

#include "ir/meeting_order.h"
#include "ir/operations.h"
#include "ir/passes/lane_rounds.h"
#include "ir/support/lane_uniformity.h"

namespace metalloid::ir {
namespace {

using llvm::BasicBlock;
using llvm::Value;
using BlockSet = llvm::SmallPtrSet<BasicBlock*, 16>;

llvm::CallInst* as_meeting(llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && is_meeting(std::string_view(callee->getName())) ? call : nullptr;
}

bool is_threadgroup_barrier(const llvm::CallInst& meeting) {
  return meeting.getCalledFunction()->getName() == llvm::StringRef(threadgroup_barrier_name);
}

// All meetings, each behind those that come first.
std::vector<llvm::CallInst*> meetings_of(llvm::Function& kernel) {
  std::vector<llvm::CallInst*> meetings;
  for (BasicBlock* block : meeting_order(kernel)) {
    for (llvm::Instruction& instruction : *block) {
      if (llvm::CallInst* meeting = as_meeting(instruction)) meetings.push_back(meeting);
    }
  }
  return meetings;
}

const llvm::CallInst* meeting_in_call(llvm::Module& module, const llvm::Function& kernel) {
  for (llvm::Function& function : module) {
    if (&function == &kernel) continue;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (const llvm::CallInst* meeting = as_meeting(instruction)) return meeting;
    }
  }
  return nullptr;
}

// The lanes in one way of a branch.
struct Arm {
  BasicBlock* branch;
  unsigned way;
  BlockSet blocks;
};

class Arms {
 public:
  Arms(llvm::Function& kernel, const KernelInfo& info, const std::vector<llvm::CallInst*>& meetings)
      : kernel_(kernel), uniformity_(kernel, info), ends_(kernel) {
    for (llvm::CallInst* meeting : meetings) {
      meeting_.insert(meeting->getParent());
      if (is_threadgroup_barrier(*meeting)) barrier_.insert(meeting->getParent());
    }
  }

  // Whether arms of branches tell who takes part in what. Outer ones come first.
  bool find() {
    return llvm::all_of(meeting_order(kernel_),
                        [&](BasicBlock* block) { return !uniformity_.diverges(*block) || add(*block); });
  }
  const std::vector<Arm>& all() const { return arms_; }

 private:
  // All that can be reached from a block in front of where its branch ends.
  BlockSet reached(BasicBlock* start, const BasicBlock* end) const {
    BlockSet seen;
    llvm::SmallVector<BasicBlock*, 16> open;
    const auto add = [&](BasicBlock* block) {
      if (block != end && seen.insert(block).second) open.push_back(block);
    };
    add(start);
    while (!open.empty()) llvm::for_each(llvm::successors(open.pop_back_val()), add);
    return seen;
  }

  static bool meet(const BlockSet& some, const BlockSet& others) {
    return llvm::any_of(some, [&](BasicBlock* block) { return others.contains(block); });
  }

  bool add(BasicBlock& block) {
    const auto* node = ends_.getNode(&block);
    const BasicBlock* end = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    llvm::SmallVector<BlockSet, 2> ways;
    BlockSet all;
    for (BasicBlock* next : llvm::successors(&block)) {
      ways.push_back(reached(next, end));
      all.insert(ways.back().begin(), ways.back().end());
    }
    if (!meet(meeting_, all)) return true;
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (!branch || all.contains(&block) || meet(barrier_, all) || meet(ways[0], ways[1])) return false;
    for (unsigned way = 0; way < 2; ++way) {
      for (BasicBlock* own : ways[way]) {
        for (BasicBlock* before : llvm::predecessors(own)) {
          if (!ways[way].contains(before) && !(before == &block && own == branch->getSuccessor(way))) return false;
        }
      }
      if (meet(meeting_, ways[way])) arms_.push_back({&block, way, ways[way]});
    }
    return true;
  }

  llvm::Function& kernel_;
  LaneUniformity uniformity_;
  llvm::PostDominatorTree ends_;
  BlockSet meeting_, barrier_;
  std::vector<Arm> arms_;
};

void mask_by_arms(const std::vector<Arm>& arms, const std::vector<llvm::CallInst*>& meetings, Value* present) {
  llvm::DenseMap<const BasicBlock*, Value*> masks;
  const auto mask_of = [&](const BasicBlock* block) {
    Value* mask = masks.lookup(block);
    return mask ? mask : present;
  };
  for (const Arm& arm : arms) {
    auto* branch = llvm::cast<llvm::BranchInst>(arm.branch->getTerminator());
    llvm::IRBuilder<> builder(branch);
    Value* taken = arm.way == 0 ? branch->getCondition() : builder.CreateNot(branch->getCondition());
    Value* mask = lanes_where(builder, mask_of(arm.branch), taken);
    for (BasicBlock* block : arm.blocks) masks[block] = mask;
  }
  for (llvm::CallInst* meeting : meetings) put_mask(*meeting, mask_of(meeting->getParent()));
}

}  // namespace

const llvm::CallInst* explicit_lanes(KernelModule& kernel) {
  llvm::Function* function = kernel.module->getFunction(kernel.info.symbol);
  if (const llvm::CallInst* meeting = meeting_in_call(*kernel.module, *function)) return meeting;
  llvm::removeUnreachableBlocks(*function);  // no place for anybody
  const std::vector<llvm::CallInst*> meetings = meetings_of(*function);
  if (meetings.empty()) return nullptr;
  Arms arms(*function, kernel.info, meetings);
  const bool are_known = arms.find();
  BasicBlock& entry = function->getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
  Value* present = lanes_present(builder);
  if (are_known) {
    mask_by_arms(arms.all(), meetings, present);
  } else {
    meet_in_rounds(*function, meetings, present);
  }
  return nullptr;
}

}  // namespace metalloid::ir
