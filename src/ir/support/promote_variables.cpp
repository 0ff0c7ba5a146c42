#include "ir/support/promote_variables.h"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>

namespace metalloid::ir {
namespace {

constexpr unsigned few_blocks = 16;

using BlockSet = llvm::SmallPtrSet<const llvm::BasicBlock*, 16>;

struct Accesses {
  llvm::SmallVector<llvm::Instruction*, 16> all;
  llvm::SmallVector<llvm::LoadInst*, 8> loads;
  llvm::SmallVector<llvm::StoreInst*, 8> stores;
  llvm::SmallVector<llvm::Instruction*, 4> marks;  // of the variable's life
  llvm::SmallPtrSet<const llvm::BasicBlock*, few_blocks> blocks;
};

Accesses accesses_of(llvm::AllocaInst& variable) {
  Accesses found;
  for (llvm::User* user : variable.users()) {
    auto* instruction = llvm::cast<llvm::Instruction>(user);
    auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction);
    auto* store = llvm::dyn_cast<llvm::StoreInst>(instruction);
    if (!load && !store) {
      found.marks.push_back(instruction);
      continue;
    }
    if (load) found.loads.push_back(load);
    if (store) found.stores.push_back(store);
    found.all.push_back(instruction);
    found.blocks.insert(instruction->getParent());
  }
  return found;
}

// Those of one block, or written once, LLVM is quick with.
bool is_slow(const Accesses& accesses) {
  return accesses.stores.size() > 1 && accesses.blocks.size() > 1 && accesses.blocks.size() <= few_blocks;
}

// The write that comes before all else, if there is one. What is undefined LLVM would make poison of.
llvm::StoreInst* first_write(const Accesses& accesses, const llvm::DominatorTree& tree) {
  const auto found = llvm::find_if(accesses.stores, [&](const llvm::StoreInst* store) {
    return llvm::all_of(accesses.all,
                        [&](const llvm::Instruction* other) { return other == store || tree.dominates(store, other); });
  });
  return found == accesses.stores.end() ? nullptr : *found;
}

BlockSet blocks_in_cycles(llvm::Function& function) {
  BlockSet found;
  for (auto component = llvm::scc_begin(&function); !component.isAtEnd(); ++component) {
    if (component.hasCycle()) found.insert(component->begin(), component->end());
  }
  return found;
}

// A constant that is written far in front of all else is written there, if the program comes there once.
void move_down(llvm::StoreInst& first, const Accesses& accesses, const llvm::DominatorTree& tree,
               const BlockSet& in_cycles) {
  if (!llvm::isa<llvm::Constant>(first.getValueOperand())) return;
  llvm::BasicBlock* place = nullptr;
  for (llvm::Instruction* other : accesses.all) {
    if (other == &first) continue;
    place = place ? tree.findNearestCommonDominator(place, other->getParent()) : other->getParent();
  }
  if (place == first.getParent() || in_cycles.contains(place)) return;
  const auto before = place->getFirstInsertionPt();
  if (before != place->end()) first.moveBefore(before);
}

}  // namespace

void promote_short_variables(llvm::Function& function) {
  if (function.isDeclaration()) return;
  const llvm::DominatorTree tree(function);
  const BlockSet in_cycles = blocks_in_cycles(function);
  llvm::SmallVector<llvm::AllocaInst*, 32> variables;
  for (llvm::Instruction& instruction : function.getEntryBlock()) {
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (variable && llvm::isAllocaPromotable(variable)) variables.push_back(variable);
  }
  for (llvm::AllocaInst* variable : variables) {
    const bool is_used_otherwise = llvm::any_of(variable->users(), [](const llvm::User* user) {
      return !llvm::isa<llvm::LoadInst, llvm::StoreInst>(user) &&
             !llvm::cast<llvm::Instruction>(user)->isLifetimeStartOrEnd();
    });
    if (is_used_otherwise) continue;
    const Accesses accesses = accesses_of(*variable);
    const bool is_reached =
        llvm::all_of(accesses.blocks, [&](const llvm::BasicBlock* block) { return tree.isReachableFromEntry(block); });
    if (!is_slow(accesses) || !is_reached) continue;
    llvm::StoreInst* first = first_write(accesses, tree);
    if (!first) continue;
    move_down(*first, accesses, tree, in_cycles);
    llvm::SSAUpdater updater;
    llvm::LoadAndStorePromoter(accesses.all, updater, variable->getName()).run(accesses.all);
    for (llvm::Instruction* mark : accesses.marks) mark->eraseFromParent();
    variable->eraseFromParent();
  }
}

}  // namespace metalloid::ir
