#include "ir/passes/place_turn_ends.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <compare>
#include <cstddef>
#include <map>
#include <vector>

#include "ir/operations.h"
#include "ir/passes/inline_choice.h"
#include "ir/passes/normalise_attributes.h"

namespace metalloid::ir {
namespace {

using llvm::BasicBlock;
using llvm::ConstantInt;
using llvm::Loop;

const llvm::Function* callee_of(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return call ? call->getCalledFunction() : nullptr;
}

bool is_turn_end(const llvm::Instruction& instruction) {
  const llvm::Function* callee = callee_of(instruction);
  return callee && callee->getName() == llvm::StringRef(turn_end_name);
}

// Which calls lanes meet in, and whether all that make such a call meet.
class Meetings {
 public:
  explicit Meetings(llvm::Module& module)
      : leading_(functions_that_lead_to(module, [](llvm::StringRef name) { return is_lane_meeting(name); })) {}

  bool lead_to(const llvm::Instruction& instruction) const {
    const llvm::Function* callee = callee_of(instruction);
    return callee && (leading_.contains(callee) || is_lane_meeting(callee->getName()));
  }

  // Not so if the function meets on some of its ways only: behind inlining these may lead elsewhere.
  bool all_meet(const llvm::Instruction& call) {
    const llvm::Function& callee = *callee_of(call);
    return callee.isDeclaration() || is_plain(callee);
  }

 private:
  bool is_plain(const llvm::Function& function) {
    const auto [entry, is_new] = plain_.try_emplace(&function, false);  // false for calls in a circle
    if (!is_new) return entry->second;
    llvm::DominatorTree dominators(const_cast<llvm::Function&>(function));
    bool result = true;
    for (const BasicBlock& block : function) {
      for (const llvm::Instruction& instruction : block) {
        if (!result || !lead_to(instruction)) continue;
        result = all_meet(instruction) && llvm::all_of(function, [&](const BasicBlock& end) {
                   return !llvm::isa<llvm::ReturnInst>(end.getTerminator()) || dominators.dominates(&block, &end);
                 });
      }
    }
    return plain_[&function] = result;
  }

  FunctionSet leading_;
  llvm::DenseMap<const llvm::Function*, bool> plain_;
};

// Variables that hold nothing but constants and that a switch reads, as Clang's for the way behind a cleanup.
std::vector<const llvm::AllocaInst*> find_way_variables(const llvm::Function& function) {
  std::vector<const llvm::AllocaInst*> result;
  for (const llvm::Instruction& instruction : function.getEntryBlock()) {
    const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (!variable || !variable->getAllocatedType()->isIntegerTy()) continue;
    bool is_read = false;
    const bool is_known = llvm::all_of(variable->users(), [&](const llvm::User* user) {
      if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
        return llvm::isa<ConstantInt>(store->getValueOperand());
      }
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(user);
      if (!load || load->getType() != variable->getAllocatedType()) return false;
      is_read |= llvm::any_of(load->users(), llvm::IsaPred<llvm::SwitchInst>);
      return true;
    });
    if (is_known && is_read) result.push_back(variable);
  }
  return result;
}

// A block, and what is known where it begins.
struct State {
  const BasicBlock* block;
  std::vector<const ConstantInt*> ways;  // of the variables for ways, null: unknown
  int branch = -1;                       // the successor that a branch goes to, by the edge that led here
  auto operator<=>(const State&) const = default;
};

// The states of one turn of a loop and where they lead.
class Turn {
 public:
  Turn(const Loop& loop, const std::vector<const llvm::AllocaInst*>& variables) : loop_(loop), variables_(variables) {
    add({loop.getHeader(), std::vector<const ConstantInt*>(variables.size())});
    for (std::size_t i = 0; i < nodes_.size() && nodes_.size() < most_states; ++i) expand(i);
  }

  bool is_complete() const { return nodes_.size() < most_states; }

  // Exiting blocks that are reached from a block's end; not through blocks at which `stops` says yes.
  template <typename Stops>
  llvm::SmallSetVector<const BasicBlock*, 4> exits_behind(const BasicBlock& start, Stops stops) const {
    std::vector<std::size_t> open;
    std::vector<bool> seen(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].state.block == &start) open.push_back(i);
    }
    llvm::SmallSetVector<const BasicBlock*, 4> result;
    while (!open.empty()) {
      const Node& node = nodes_[open.back()];
      open.pop_back();
      if (stops(*node.state.block)) continue;
      if (node.leaves) result.insert(node.state.block);
      for (const std::size_t next : node.successors) {
        if (!seen[next]) open.push_back(next);
        seen[next] = true;
      }
    }
    return result;
  }

  // Whether a lane can go round without passing a block.
  bool goes_round_without(const BasicBlock& block) const {
    if (&block == loop_.getHeader()) return false;
    std::vector<std::size_t> open = {0};
    std::vector<bool> seen(nodes_.size());
    while (!open.empty()) {
      const Node& node = nodes_[open.back()];
      open.pop_back();
      if (node.state.block == &block) continue;
      if (node.returns) return true;
      for (const std::size_t next : node.successors) {
        if (!seen[next]) open.push_back(next);
        seen[next] = true;
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t most_states = 20'000;
  struct Node {
    State state;
    std::vector<std::size_t> successors = {};
    bool leaves = false, returns = false;  // out of the loop, to its next turn
  };

  std::size_t add(State state) {
    const auto [entry, is_new] = numbers_.try_emplace(state, nodes_.size());
    if (is_new) nodes_.push_back({std::move(state)});
    return entry->second;
  }

  void expand(std::size_t number) {
    const State state = nodes_[number].state;
    std::vector<const ConstantInt*> ways = state.ways;
    llvm::DenseMap<const llvm::Value*, const ConstantInt*> loaded;
    for (const llvm::Instruction& instruction : *state.block) {
      for (std::size_t v = 0; v < variables_.size(); ++v) {
        if (llvm::getLoadStorePointerOperand(&instruction) != variables_[v]) continue;
        if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
          ways[v] = llvm::cast<ConstantInt>(store->getValueOperand());
        } else {
          loaded[&instruction] = ways[v];
        }
      }
    }
    const llvm::Instruction* last = state.block->getTerminator();
    const BasicBlock* only = nullptr;
    if (const auto* choice = llvm::dyn_cast<llvm::SwitchInst>(last)) {
      const ConstantInt* value = loaded.lookup(choice->getCondition());
      if (value) only = choice->findCaseValue(value)->getCaseSuccessor();
    } else if (state.branch >= 0) {
      only = last->getSuccessor(static_cast<unsigned>(state.branch));
    }
    for (const BasicBlock* next : llvm::successors(state.block)) {
      if (only && next != only) continue;
      if (next == loop_.getHeader()) {
        nodes_[number].returns = true;
      } else if (!loop_.contains(next)) {
        nodes_[number].leaves = true;
      } else {
        const std::size_t successor = add({next, ways, branch_at(*next, *state.block)});
        nodes_[number].successors.push_back(successor);
      }
    }
  }

  // `a && b` comes as a branch by a phi that is a constant on some of the edges.
  static int branch_at(const BasicBlock& block, const BasicBlock& from) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
    if (!branch || !branch->isConditional()) return -1;
    const auto* phi = llvm::dyn_cast<llvm::PHINode>(branch->getCondition());
    if (!phi || phi->getParent() != &block) return -1;
    const auto* value = llvm::dyn_cast<ConstantInt>(phi->getIncomingValueForBlock(&from));
    return value ? (value->isZero() ? 1 : 0) : -1;
  }

  const Loop& loop_;
  const std::vector<const llvm::AllocaInst*>& variables_;
  std::vector<Node> nodes_;
  std::map<State, std::size_t> numbers_;
};

class Placing {
 public:
  Placing(llvm::Function& function, Meetings& meetings)
      : meetings_(meetings), variables_(find_way_variables(function)), dominators_(function), loops_(dominators_) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (is_turn_end(instruction)) marks_.push_back(&instruction);
    }
  }

  void run() {
    llvm::SmallPtrSet<const Loop*, 8> with_ends;
    llvm::SmallSetVector<const BasicBlock*, 8> new_ends;
    for (const Loop* loop : loops_.getLoopsInPreorder()) {
      if (ends_turns(*loop, new_ends)) with_ends.insert(loop);
    }
    for (llvm::Instruction* mark : marks_) {
      if (!with_ends.contains(loops_.getLoopFor(mark->getParent()))) mark->eraseFromParent();
    }
    for (const BasicBlock* block : new_ends) {
      llvm::IRBuilder<> builder(const_cast<llvm::Instruction*>(block->getTerminator()));
      builder.CreateCall(declare_operation(*const_cast<BasicBlock*>(block)->getModule(), turn_end_name));
    }
  }

 private:
  bool has_mark(const BasicBlock& block, const Loop& loop) const {
    return loops_.getLoopFor(&block) == &loop && llvm::any_of(block, is_turn_end);
  }

  // Whether the loop has meetings in front of exits; `new_ends` gets exits without a mark behind those.
  bool ends_turns(const Loop& loop, llvm::SmallSetVector<const BasicBlock*, 8>& new_ends) {
    llvm::SmallVector<const BasicBlock*, 8> places;
    for (const BasicBlock* block : loop.blocks()) {
      if (llvm::any_of(*block, [&](const llvm::Instruction& i) { return meetings_.lead_to(i); })) {
        places.push_back(block);
      }
    }
    if (places.empty()) return false;
    const Turn turn(loop, variables_);
    if (!turn.is_complete()) return true;
    bool result = false;
    for (const BasicBlock* place : places) {
      const auto never = [](const BasicBlock&) { return false; };
      if (turn.exits_behind(*place, never).empty()) continue;
      const bool all_meet = llvm::all_of(
          *place, [&](const llvm::Instruction& i) { return !meetings_.lead_to(i) || meetings_.all_meet(i); });
      if (all_meet && !turn.goes_round_without(*place)) continue;
      result = true;
      const auto at_mark = [&](const BasicBlock& block) { return has_mark(block, loop); };
      for (const BasicBlock* exit : turn.exits_behind(*place, at_mark)) new_ends.insert(exit);
    }
    return result;
  }

  Meetings& meetings_;
  std::vector<const llvm::AllocaInst*> variables_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  std::vector<llvm::Instruction*> marks_;
};

}  // namespace

void place_turn_ends(llvm::Module& module) {
  Meetings meetings(module);
  for (llvm::Function& function : module) {
    const bool meets = llvm::any_of(llvm::instructions(function), [&](const llvm::Instruction& instruction) {
      return meetings.lead_to(instruction) || is_turn_end(instruction);
    });
    if (meets) Placing(function, meetings).run();
  }
}

}  // namespace metalloid::ir
