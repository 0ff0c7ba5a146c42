// In which order the blocks of a lane's program run when a simdgroup runs it in step, and with which lanes.
//
// Partial linearisation: blocks keep the order of ir::meeting_order. A branch that all lanes take alike stays a branch.
// Where lanes go different ways, the first of the ways runs, with its lanes, then the others; lanes meet again where
// the ways do. A block whose lanes may all have gone elsewhere is stepped over if none has come:
//
//   a:  br %varying, b, c          a:  lanes(b) |= lanes(a) & %varying; lanes(c) |= lanes(a) & ~%varying
//   b:  ...                            br any(lanes(b)), b, c'
//       br d                       b:  ...; br c'
//   c:  ...                  ->    c': br any(lanes(c)), c, d
//       br d                       c:  ...; br d
//   d:                             d:  lanes(d) are lanes(a) again
//
// A loop that lanes leave in different turns goes on while there are lanes in it; those that have left wait behind it.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>

#include <map>
#include <set>
#include <vector>

#include "engines/simd/shapes/lane_shapes.h"

namespace metalloid::engines::simd {

// Sets of lanes that are always the same have one number.
using LaneSet = unsigned;
inline constexpr LaneSet all_lanes = 0;  // that entered the program

struct ScheduledBlock {
  llvm::BasicBlock* block = nullptr;
  LaneSet lanes = all_lanes;
  // Whether its lanes are counted up here, as they come in; else an earlier block has the same.
  bool counts_lanes = false;
  // Whether nothing may run here without lanes, which may happen.
  bool is_checked = false;
  llvm::BasicBlock* if_empty = nullptr;
  // Where to go behind it: one place for each successor, or one for all.
  bool is_branch = false;
  llvm::SmallVector<llvm::BasicBlock*, 2> next;
  // The last block of a loop that lanes leave in different turns: `next` is where to go when all have left.
  bool ends_divergent_turn = false;
};

class BlockSchedule {
 public:
  // `function` has simplified loops, no critical edges, one return, and branches only; latches that are no headers do
  // nothing but branch.
  BlockSchedule(llvm::Function& function, const LaneShapes& shapes);

  const std::vector<ScheduledBlock>& blocks() const { return blocks_; }
  const ScheduledBlock& of(const llvm::BasicBlock& block) const { return blocks_[index_.lookup(&block)]; }
  const llvm::LoopInfo& loops() const { return loops_; }
  // The block through which all ways to a block go last; null: none.
  const llvm::BasicBlock* last_on_all_ways(const llvm::BasicBlock& block) const {
    const llvm::DomTreeNode* node = dominators_.getNode(&block);
    return node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
  }
  bool is_divergent(const llvm::Loop& loop) const { return divergent_.contains(&loop); }
  // Whether all lanes of `to` come over this edge whenever one does.
  bool brings_all_lanes(const llvm::BasicBlock& from, const llvm::BasicBlock& to) const;
  unsigned lane_set_count() const { return static_cast<unsigned>(lane_sets_.size()); }
  // The loop in whose turns a set of lanes is counted; null: the whole program.
  const llvm::Loop* loop_of(LaneSet lanes) const { return loop_of_set_[lanes]; }
  bool comes_before(const llvm::BasicBlock& a, const llvm::BasicBlock& b) const {
    return index_.lookup(&a) < index_.lookup(&b);
  }

 private:
  using Targets = std::set<unsigned>;
  using Atoms = std::set<unsigned>;

  void find_divergent_loops(const LaneShapes& shapes);
  bool try_order(const LaneShapes& shapes);
  unsigned go_on(const llvm::Loop* loop, Targets targets);
  Targets inside(const Targets& targets, const llvm::Loop& loop) const;
  void name_lanes();
  Atoms reduced(Atoms atoms);
  Atoms edge_atoms(const llvm::BasicBlock& from, unsigned successor);
  unsigned atom(const void* what, unsigned which);
  const llvm::Loop* outermost_left(const llvm::BasicBlock& from, const llvm::BasicBlock& to) const;
  static bool has_effect(const llvm::BasicBlock& block);
  static bool decides_for_all(const llvm::BasicBlock& block, const LaneShapes& shapes);

  llvm::Function& function_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  std::vector<ScheduledBlock> blocks_;
  llvm::DenseMap<const llvm::BasicBlock*, unsigned> index_;
  llvm::DenseSet<const llvm::Loop*> divergent_;
  std::vector<Targets> waiting_;  // per block: those behind it that may have lanes when it is reached
  llvm::DenseMap<const llvm::Loop*, Targets> exits_, outside_;
  const llvm::Loop* conflict_ = nullptr;

  std::map<std::pair<const void*, unsigned>, unsigned> atoms_;
  std::map<Atoms, LaneSet> lane_sets_;
  std::vector<const llvm::Loop*> loop_of_set_;
  std::vector<Atoms> atoms_of_;  // per block
};

}  // namespace metalloid::engines::simd
