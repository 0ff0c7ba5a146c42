#include "checker/code/mark_ways_around.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <map>
#include <set>
#include <utility>

#include "checker/code/calls.h"
#include "checker/code/operations.h"

namespace metalloid::checker {
namespace {

using llvm::BasicBlock;

bool is_step(const llvm::CallInst& call, MeetingStep step) {
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
  return number && number->getZExtValue() == static_cast<std::uint64_t>(step);
}

// Whether it writes a variable of the thread's, of which nobody hears: shadows end with what they are shadows of.
bool writes_own_variable(const llvm::Instruction& instruction) {
  const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
  if (const auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction)) pointer = memory->getRawDest();
  return pointer && llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
}

bool asks_for_nothing_shared(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (!call || !call->getCalledFunction()) return false;
  const llvm::StringRef name = call->getCalledFunction()->getName();
  return name == llvm::StringRef(check_end_name) || name == llvm::StringRef(check_expect_name);
}

// Whether nothing happens from here on.
bool only_returns(const BasicBlock* block) {
  for (int steps = 0; steps < 8; ++steps) {
    for (const llvm::Instruction& instruction : *block) {
      if (instruction.isLifetimeStartOrEnd() || asks_for_nothing_shared(instruction)) continue;
      if (instruction.isTerminator()) continue;
      if (instruction.mayHaveSideEffects() && !writes_own_variable(instruction)) return false;
    }
    if (llvm::isa<llvm::ReturnInst>(block->getTerminator())) return true;
    block = block->getSingleSuccessor();
    if (!block) return false;
  }
  return false;
}

using Edge = std::pair<BasicBlock*, BasicBlock*>;

// The edges by which a thread leaves all ways to a block: those out of the branches that decide whether it is reached.
std::set<Edge> edges_around(BasicBlock& target, const llvm::PostDominatorTree& tree) {
  std::set<Edge> edges;
  llvm::SetVector<BasicBlock*> open;
  open.insert(&target);
  for (std::size_t i = 0; i < open.size(); ++i) {
    BasicBlock* block = open[i];
    for (BasicBlock& branch : *block->getParent()) {
      if (branch.getTerminator()->getNumSuccessors() < 2 || tree.properlyDominates(block, &branch)) continue;
      bool leads_here = false;
      for (BasicBlock* next : llvm::successors(&branch)) leads_here |= tree.dominates(block, next);
      if (!leads_here) continue;
      open.insert(&branch);
      for (BasicBlock* next : llvm::successors(&branch)) {
        if (!tree.dominates(block, next) && !only_returns(next)) edges.insert({&branch, next});
      }
    }
  }
  return edges;
}

// Says it where the thread decides, and not on the way: lanes of a simdgroup that have left a loop go on when all have.
void mark(const Edge& edge, llvm::ArrayRef<std::uint32_t> numbers) {
  llvm::Instruction* end = edge.first->getTerminator();
  llvm::IRBuilder<> builder(end);
  llvm::Value* goes = builder.getInt32(1);
  if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(end)) {
    llvm::Value* condition = branch->getCondition();
    if (branch->getSuccessor(0) != edge.second) condition = builder.CreateNot(condition);
    goes = builder.CreateZExt(condition, builder.getInt32Ty());
  } else if (BasicBlock* between = llvm::SplitEdge(edge.first, edge.second)) {
    builder.SetInsertPoint(between->getTerminator());
    builder.SetCurrentDebugLocation(end->getDebugLoc());
  }
  llvm::Type* small = builder.getInt32Ty();
  for (const std::uint32_t number : numbers) {
    builder.CreateCall(
        operation(*edge.first->getModule(), check_meeting_name, builder.getVoidTy(), {small, small, small}),
        {builder.getInt32(static_cast<std::uint32_t>(MeetingStep::go_around)),
         builder.getInt32(number << meeting_number_shift), goes});
  }
}

}  // namespace

void mark_ways_around(llvm::Module& module) {
  std::map<llvm::Function*, llvm::SmallVector<llvm::CallInst*, 16>> meetings;
  for (llvm::CallInst* call : calls_of(module, check_meeting_name)) {
    if (is_step(*call, MeetingStep::come_to_threadgroup_barrier) ||
        is_step(*call, MeetingStep::come_to_simdgroup_barrier) || is_step(*call, MeetingStep::come_to_operation)) {
      meetings[call->getFunction()].push_back(call);
    }
  }
  std::uint32_t number = 0;
  for (auto& [function, calls] : meetings) {
    const llvm::PostDominatorTree tree(*function);
    std::map<Edge, llvm::SmallVector<std::uint32_t, 4>> around;
    std::map<BasicBlock*, std::set<Edge>> known;
    for (llvm::CallInst* call : calls) {
      if (++number >= most_meetings) break;
      llvm::IRBuilder<> builder(call);
      call->setArgOperand(1, builder.CreateOr(call->getArgOperand(1), number << meeting_number_shift));
      const auto [edges, is_new] = known.try_emplace(call->getParent());
      if (is_new) edges->second = edges_around(*call->getParent(), tree);
      for (const Edge& edge : edges->second) around[edge].push_back(number);
    }
    for (const auto& [edge, numbers] : around) mark(edge, numbers);
  }
}

}  // namespace metalloid::checker
