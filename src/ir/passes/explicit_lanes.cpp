#include "ir/passes/explicit_lanes.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Local.h>

#include <string_view>
#include <utility>
#include <vector>

#include "ir/meeting_order.h"
#include "ir/operations.h"
#include "ir/passes/lane_rounds.h"
#include "ir/passes/meeting_functions.h"
#include "ir/support/lane_uniformity.h"

namespace metalloid::ir {
namespace {

using llvm::BasicBlock;
using llvm::Value;
using BlockSet = llvm::SmallPtrSet<BasicBlock*, 16>;

bool is_threadgroup_barrier(const llvm::CallInst& meeting) {
  return meeting.getCalledFunction()->getName() == llvm::StringRef(threadgroup_barrier_name);
}

// All meetings, each behind those that come first.
std::vector<llvm::CallInst*> meetings_of(llvm::Function& function, const MeetingFunctions& functions) {
  std::vector<llvm::CallInst*> meetings;
  for (BasicBlock* block : meeting_order(function)) {
    for (llvm::Instruction& instruction : *block) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call && functions.is_meeting(*call)) meetings.push_back(call);
    }
  }
  return meetings;
}

// The block in which a function that stays a call ends.
BasicBlock* last_block(llvm::Function& function) {
  const auto found =
      llvm::find_if(function, [](BasicBlock& block) { return llvm::isa<llvm::ReturnInst>(block.getTerminator()); });
  return found == function.end() ? nullptr : &*found;
}

// The lanes in one way of a branch.
struct Arm {
  BasicBlock* branch;
  unsigned way;
  BlockSet blocks;
};

// Where nobody knows.
struct Region : RoundsRegion {
  BasicBlock *branch, *entry;
};

// Which branches tell who takes part in what.
class Branches {
 public:
  Branches(llvm::Function& function, const KernelInfo& info, const std::vector<llvm::CallInst*>& meetings)
      : function_(function), uniformity_(function, info), ends_(function) {
    for (llvm::CallInst* meeting : meetings) {
      meeting_.insert(meeting->getParent());
      if (is_threadgroup_barrier(*meeting)) barrier_.insert(meeting->getParent());
    }
    const std::vector<BasicBlock*> blocks = meeting_order(function);
    for (BasicBlock* block : blocks) {
      if (!uniformity_.diverges(*block) || add(*block)) continue;
      // The region is the whole kernel, or all of a function but its end.
      BasicBlock* end = function.getName() == llvm::StringRef(info.symbol) ? nullptr : last_block(function);
      BlockSet all(blocks.begin(), blocks.end());
      all.erase(end);
      arms_.clear();
      regions_.assign(1, Region{{.blocks = std::move(all), .end = end}, nullptr, blocks.front()});
      return;
    }
    drop_inner_regions();
    llvm::erase_if(arms_, [&](const Arm& arm) { return region_of(arm.branch) != nullptr; });
  }

  // Outer ones first.
  const std::vector<Arm>& arms() const { return arms_; }
  const std::vector<Region>& regions() const { return regions_; }
  const Region* region_of(BasicBlock* block) const {
    const auto found = llvm::find_if(regions_, [&](const Region& region) { return region.blocks.contains(block); });
    return found == regions_.end() ? nullptr : &*found;
  }

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
    BasicBlock* end = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
    llvm::SmallVector<BlockSet, 2> ways;
    BlockSet all;
    for (BasicBlock* next : llvm::successors(&block)) {
      ways.push_back(reached(next, end));
      all.insert(ways.back().begin(), ways.back().end());
    }
    if (!meet(meeting_, all)) return true;
    if (meet(barrier_, all)) return false;
    return add_arms(block, all, ways) || add_region(block, std::move(all), end);
  }

  bool add_arms(BasicBlock& block, const BlockSet& all, llvm::ArrayRef<BlockSet> ways) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (!branch || all.contains(&block) || meet(ways[0], ways[1])) return false;
    for (unsigned way = 0; way < 2; ++way) {
      for (BasicBlock* own : ways[way]) {
        for (BasicBlock* before : llvm::predecessors(own)) {
          if (!ways[way].contains(before) && !(before == &block && own == branch->getSuccessor(way))) return false;
        }
      }
    }
    for (unsigned way = 0; way < 2; ++way) {
      if (meet(meeting_, ways[way])) arms_.push_back({&block, way, ways[way]});
    }
    return true;
  }

  // What a region reaches it has whole.
  void drop_inner_regions() {
    llvm::stable_sort(regions_, [](const Region& a, const Region& b) { return a.blocks.size() > b.blocks.size(); });
    std::vector<Region> outer;
    for (Region& region : regions_) {
      const bool is_inner =
          llvm::any_of(outer, [&](const Region& other) { return other.blocks.contains(region.branch); });
      if (!is_inner) outer.push_back(std::move(region));
    }
    regions_ = std::move(outer);
  }

  // Lanes enter it in one block, or else they need not come together.
  bool add_region(BasicBlock& block, BlockSet blocks, BasicBlock* end) {
    blocks.insert(&block);
    BasicBlock* entry = nullptr;
    for (BasicBlock* own : blocks) {
      const bool is_entered =
          own == &function_.getEntryBlock() ||
          llvm::any_of(llvm::predecessors(own), [&](auto* before) { return !blocks.contains(before); });
      if (!is_entered) continue;
      if (entry) return false;
      entry = own;
    }
    regions_.push_back(Region{{.blocks = std::move(blocks), .end = end}, &block, entry});
    return true;
  }

  llvm::Function& function_;
  LaneUniformity uniformity_;
  llvm::PostDominatorTree ends_;
  BlockSet meeting_, barrier_;
  std::vector<Arm> arms_;
  std::vector<Region> regions_;
};

void put_masks(llvm::Function& function, const Branches& branches, const std::vector<llvm::CallInst*>& meetings,
               Value* present, const MaskedFunctions& functions) {
  llvm::DenseMap<const BasicBlock*, Value*> masks;
  const auto mask_of = [&](const BasicBlock* block) {
    Value* mask = masks.lookup(block);
    return mask ? mask : present;
  };
  for (const Arm& arm : branches.arms()) {
    auto* branch = llvm::cast<llvm::BranchInst>(arm.branch->getTerminator());
    llvm::IRBuilder<> builder(branch);
    Value* taken = arm.way == 0 ? branch->getCondition() : builder.CreateNot(branch->getCondition());
    Value* mask = lanes_where(builder, mask_of(arm.branch), taken);
    for (BasicBlock* block : arm.blocks) masks[block] = mask;
  }
  llvm::DenseMap<const Region*, std::vector<llvm::CallInst*>> unknown;
  for (llvm::CallInst* meeting : meetings) {
    if (const Region* region = branches.region_of(meeting->getParent())) {
      unknown[region].push_back(meeting);
    } else {
      put_mask(*meeting, mask_of(meeting->getParent()), functions);
    }
  }
  for (const Region& region : branches.regions()) {
    meet_in_rounds(function, unknown[&region], mask_of(region.entry), region, functions);
  }
}

}  // namespace

const llvm::CallInst* explicit_lanes(KernelModule& kernel) {
  llvm::Function* entry = kernel.module->getFunction(kernel.info.symbol);
  MeetingFunctions functions(kernel);
  if (const llvm::CallInst* meeting = functions.refused()) return meeting;
  functions.add_masks();
  llvm::removeUnreachableBlocks(*entry);  // no place for anybody
  const auto name_lanes = [&](llvm::Function& function, Value* lanes) {
    const std::vector<llvm::CallInst*> meetings = meetings_of(function, functions);
    if (meetings.empty()) return;
    const Branches branches(function, kernel.info, meetings);
    BasicBlock& first = function.getEntryBlock();
    llvm::IRBuilder<> builder(&first, first.getFirstNonPHIOrDbgOrAlloca());
    put_masks(function, branches, meetings, lanes ? lanes : lanes_present(builder), functions.masked());
  };
  name_lanes(*entry, nullptr);
  for (const auto& [before, function] : functions.masked())
    name_lanes(*function, function->getArg(function->arg_size() - 1));
  functions.erase();
  return nullptr;
}

}  // namespace metalloid::ir
