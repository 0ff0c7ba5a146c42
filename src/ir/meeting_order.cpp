#include "ir/meeting_order.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>

namespace metalloid::ir {
namespace {

using llvm::BasicBlock;
using llvm::Loop;

class BlockOrder {
 public:
  explicit BlockOrder(llvm::Function& function) : dominators_(function), loops_(dominators_) {
    order_region(&function.getEntryBlock(), nullptr);
  }
  const std::vector<BasicBlock*>& blocks() const { return blocks_; }

 private:
  // A node of a region is a block, or an inner loop by its header.
  struct Visit {
    BasicBlock* node;
    llvm::SmallVector<BasicBlock*, 8> successors;
    unsigned next = 0;
  };

  // The child loop of `region` that holds the block, or null if the block lies in the region itself.
  Loop* child_loop(BasicBlock* block, Loop* region) const {
    Loop* loop = loops_.getLoopFor(block);
    if (loop == region) return nullptr;
    while (loop && loop->getParentLoop() != region) loop = loop->getParentLoop();
    return loop;
  }

  llvm::SmallVector<BasicBlock*, 8> successors_of(BasicBlock* node, Loop* region) const {
    llvm::SmallVector<BasicBlock*, 8> result;
    auto add = [&](BasicBlock* block) {
      if (region && (!region->contains(block) || block == region->getHeader())) return;
      Loop* child = child_loop(block, region);
      result.push_back(child ? child->getHeader() : block);
    };
    if (Loop* child = child_loop(node, region)) {
      llvm::SmallVector<BasicBlock*, 8> exits;
      child->getUniqueExitBlocks(exits);
      for (BasicBlock* block : exits) add(block);
    } else {
      for (BasicBlock* block : llvm::successors(node)) add(block);
    }
    return result;
  }

  void order_region(BasicBlock* start, Loop* region) {
    std::vector<BasicBlock*> post_order;
    llvm::SmallPtrSet<BasicBlock*, 32> seen = {start};
    std::vector<Visit> stack;
    stack.push_back({start, successors_of(start, region)});
    while (!stack.empty()) {
      Visit& visit = stack.back();
      if (visit.next == visit.successors.size()) {
        post_order.push_back(visit.node);
        stack.pop_back();
        continue;
      }
      BasicBlock* successor = visit.successors[visit.next++];
      if (seen.insert(successor).second) stack.push_back({successor, successors_of(successor, region)});
    }
    for (BasicBlock* node : llvm::reverse(post_order)) {
      Loop* child = child_loop(node, region);
      if (child) {
        order_region(child->getHeader(), child);
      } else {
        blocks_.push_back(node);
      }
    }
  }

  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  std::vector<BasicBlock*> blocks_;
};

}  // namespace

std::vector<BasicBlock*> meeting_order(llvm::Function& function) { return BlockOrder(function).blocks(); }

}  // namespace metalloid::ir
