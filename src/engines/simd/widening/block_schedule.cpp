#include "engines/simd/widening/block_schedule.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>

#include "ir/meeting_order.h"
#include "metalloid/error.h"

namespace metalloid::engines::simd {
namespace {

using llvm::BasicBlock;
using llvm::Loop;

// Instructions that cost less than the question whether there are lanes.
constexpr unsigned cheap_instructions = 8;

}  // namespace

BlockSchedule::BlockSchedule(llvm::Function& function, const LaneShapes& shapes)
    : function_(function), dominators_(function), loops_(dominators_) {
  std::vector<BasicBlock*> order = ir::meeting_order(function);
  // The way out is last, whatever else ends nowhere.
  std::stable_partition(order.begin(), order.end(),
                        [](BasicBlock* block) { return !llvm::isa<llvm::ReturnInst>(block->getTerminator()); });
  for (BasicBlock* block : order) {
    index_[block] = static_cast<unsigned>(blocks_.size());
    blocks_.emplace_back().block = block;
  }
  find_divergent_loops(shapes);
  while (!try_order(shapes)) divergent_.insert(conflict_);
  name_lanes();
}

void BlockSchedule::find_divergent_loops(const LaneShapes& shapes) {
  for (const ScheduledBlock& scheduled : blocks_) {
    if (!shapes.diverges_behind(*scheduled.block)) continue;
    for (const Loop* loop = loops_.getLoopFor(scheduled.block); loop; loop = loop->getParentLoop()) {
      if (llvm::any_of(llvm::successors(scheduled.block), [&](BasicBlock* to) { return !loop->contains(to); })) {
        divergent_.insert(loop);
      }
    }
  }
}

BlockSchedule::Targets BlockSchedule::inside(const Targets& targets, const Loop& loop) const {
  Targets result;
  for (const unsigned target : targets) {
    if (loop.contains(blocks_[target].block)) result.insert(target);
  }
  return result;
}

// Lanes are bound for `targets`, seen from within `loop`: which of them is next, and the others wait there.
unsigned BlockSchedule::go_on(const Loop* loop, Targets targets) {
  while (loop) {
    const Targets in = inside(targets, *loop);
    Targets out;
    std::set_difference(targets.begin(), targets.end(), in.begin(), in.end(), std::inserter(out, out.end()));
    const unsigned latch = index_.lookup(loop->getLoopLatch());
    if (divergent_.contains(loop)) {
      exits_[loop].insert(out.begin(), out.end());
      targets = in;
      // Lanes that left may have been all.
      if (targets.empty() || !out.empty()) targets.insert(latch);
      break;
    }
    if (out.empty()) break;
    if (!in.empty()) {
      conflict_ = loop;
      return latch;
    }
    targets = out;
    targets.insert(outside_[loop].begin(), outside_[loop].end());
    loop = loop->getParentLoop();
  }
  if (targets.empty()) return ~0u;
  const unsigned next = *targets.begin();
  targets.erase(targets.begin());
  waiting_[next].insert(targets.begin(), targets.end());
  return next;
}

bool BlockSchedule::has_effect(const BasicBlock& block) {
  if (llvm::isa<llvm::UnreachableInst>(block.getTerminator())) return true;
  return llvm::any_of(block, [](const llvm::Instruction& instruction) {
    return instruction.mayReadOrWriteMemory() || instruction.isIntDivRem() || llvm::isa<llvm::CallInst>(instruction);
  });
}

// Whether it brings a value to where lanes meet that all of them have: without lanes it must not.
bool BlockSchedule::decides_for_all(const BasicBlock& block, const LaneShapes& shapes) {
  return llvm::any_of(llvm::successors(&block), [&](const BasicBlock* to) {
    return !to->getSinglePredecessor() &&
           llvm::any_of(to->phis(), [&](const llvm::PHINode& phi) { return !shapes.is_varying(phi); });
  });
}

bool BlockSchedule::try_order(const LaneShapes& shapes) {
  conflict_ = nullptr;
  waiting_.assign(blocks_.size(), {});
  exits_.clear();
  outside_.clear();
  const auto block_at = [&](unsigned index) { return index == ~0u ? nullptr : blocks_[index].block; };
  for (unsigned i = 0; i < blocks_.size() && !conflict_; ++i) {
    ScheduledBlock& scheduled = blocks_[i];
    BasicBlock* block = scheduled.block;
    const Loop* loop = loops_.getLoopFor(block);
    const bool is_header = loop && loop->getHeader() == block;
    Targets waiting = waiting_[i];
    waiting.erase(i);
    const Loop* around = is_header ? loop->getParentLoop() : loop;
    const bool diverges = shapes.diverges_behind(*block);
    const bool is_conditional = block->getTerminator()->getNumSuccessors() > 1;
    const bool ends_turn = loop && loop->getLoopLatch() == block && divergent_.contains(loop);
    scheduled.is_checked = !waiting.empty() && (is_header || has_effect(*block) || (is_conditional && !diverges) ||
                                                block->size() > cheap_instructions || decides_for_all(*block, shapes));
    scheduled.if_empty = nullptr;
    if (scheduled.is_checked) {
      scheduled.if_empty = block_at(go_on(around, waiting));
    }
    if (is_header) {
      outside_[loop] = waiting;
      waiting.clear();
    }
    scheduled.next.clear();
    scheduled.is_branch = is_conditional && !diverges && !ends_turn;
    scheduled.ends_divergent_turn = ends_turn;
    const auto successors = llvm::successors(block);
    if (ends_turn) {
      Targets behind = exits_[loop];
      for (BasicBlock* to : successors) {
        if (!loop->contains(to)) behind.insert(index_.lookup(to));
      }
      behind.insert(outside_[loop].begin(), outside_[loop].end());
      scheduled.next.push_back(block_at(go_on(loop->getParentLoop(), behind)));
      continue;
    }
    if (scheduled.is_branch) {
      for (BasicBlock* to : successors) {
        if (loop && to == loop->getHeader()) {
          if (!waiting.empty()) conflict_ = loop;
          scheduled.next.push_back(to);
          continue;
        }
        Targets targets = waiting;
        targets.insert(index_.lookup(to));
        scheduled.next.push_back(block_at(go_on(loop, targets)));
      }
      continue;
    }
    if (loop && block->getSingleSuccessor() == loop->getHeader()) {
      if (!waiting.empty()) conflict_ = loop;
      scheduled.next.push_back(loop->getHeader());
      continue;
    }
    Targets targets = waiting;
    for (BasicBlock* to : successors) targets.insert(index_.lookup(to));
    scheduled.next.push_back(block_at(go_on(loop, targets)));
  }
  return !conflict_;
}

const Loop* BlockSchedule::outermost_left(const BasicBlock& from, const BasicBlock& to) const {
  const Loop* left = nullptr;
  for (const Loop* loop = loops_.getLoopFor(&from); loop && !loop->contains(&to); loop = loop->getParentLoop()) {
    left = loop;
  }
  return left;
}

unsigned BlockSchedule::atom(const void* what, unsigned which) {
  return atoms_.try_emplace({what, which}, static_cast<unsigned>(atoms_.size())).first->second;
}

// The lanes that go from a block to one of its successors.
BlockSchedule::Atoms BlockSchedule::edge_atoms(const BasicBlock& from, unsigned successor) {
  const BasicBlock* to = from.getTerminator()->getSuccessor(successor);
  const Loop* left = outermost_left(from, *to);
  if (!left && from.getSingleSuccessor()) return atoms_of_[index_.lookup(&from)];
  return {atom(&from, successor + 1)};
}

// What both ways of a branch bring is what came to the branch; what all exits of a loop bring is what entered it.
BlockSchedule::Atoms BlockSchedule::reduced(Atoms atoms) {
  const auto replace = [&](const Atoms& parts, const Atoms& whole) {
    if (parts.empty() || !std::includes(atoms.begin(), atoms.end(), parts.begin(), parts.end())) return false;
    for (const unsigned part : parts) atoms.erase(part);
    atoms.insert(whole.begin(), whole.end());
    return true;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned i = static_cast<unsigned>(blocks_.size()); i-- > 0;) {
      const BasicBlock& block = *blocks_[i].block;
      if (atoms_of_[i].empty()) continue;  // not named yet
      const unsigned count = block.getTerminator()->getNumSuccessors();
      if (count > 1 && atoms.contains(atom(&block, 1))) {
        Atoms parts;
        bool stays = true;
        for (unsigned s = 0; s < count; ++s) {
          stays &= !outermost_left(block, *block.getTerminator()->getSuccessor(s));
          parts.insert(atom(&block, s + 1));
        }
        if (stays) changed |= replace(parts, atoms_of_[i]);
      }
      const Loop* loop = loops_.getLoopFor(&block);
      if (!loop || loop->getHeader() != &block) continue;
      Atoms parts;
      bool is_whole = true;
      llvm::SmallVector<Loop::Edge, 4> exits;
      loop->getExitEdges(exits);
      for (const auto& [from, to] : exits) {
        is_whole &= outermost_left(*from, *to) == loop;
        for (unsigned s = 0; s < from->getTerminator()->getNumSuccessors(); ++s) {
          if (from->getTerminator()->getSuccessor(s) == to) parts.insert(atom(from, s + 1));
        }
      }
      if (is_whole) changed |= replace(parts, atoms_of_[index_.lookup(loop->getLoopPreheader())]);
    }
  }
  return atoms;
}

void BlockSchedule::name_lanes() {
  atoms_of_.assign(blocks_.size(), {});
  for (unsigned i = 0; i < blocks_.size(); ++i) {
    ScheduledBlock& scheduled = blocks_[i];
    const Loop* loop = loops_.getLoopFor(scheduled.block);
    Atoms atoms;
    if (i == 0) {
      atoms = {atom(&function_, 0)};
    } else if (loop && loop->getHeader() == scheduled.block) {
      atoms = divergent_.contains(loop) ? Atoms{atom(loop, 0)} : atoms_of_[index_.lookup(loop->getLoopPreheader())];
    } else {
      for (const BasicBlock* from : llvm::predecessors(scheduled.block)) {
        if (!index_.contains(from)) continue;
        for (unsigned s = 0; s < from->getTerminator()->getNumSuccessors(); ++s) {
          if (from->getTerminator()->getSuccessor(s) != scheduled.block) continue;
          const Atoms part = edge_atoms(*from, s);
          atoms.insert(part.begin(), part.end());
        }
      }
      atoms = reduced(atoms);
    }
    atoms_of_[i] = atoms;
    const auto [entry, is_new] = lane_sets_.try_emplace(atoms, static_cast<unsigned>(lane_sets_.size()));
    scheduled.lanes = entry->second;
    scheduled.counts_lanes = is_new;
    if (is_new) loop_of_set_.push_back(loop && loop->getHeader() == scheduled.block ? loop->getParentLoop() : loop);
  }
}

bool BlockSchedule::brings_all_lanes(const BasicBlock& from, const BasicBlock& to) const {
  const Loop* left = outermost_left(from, to);
  if (left) return false;
  const ScheduledBlock& source = of(from);
  return source.lanes == of(to).lanes;
}

}  // namespace metalloid::engines::simd
