#include "engines/simd/lane/pair_simdgroups.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include <cstdint>

#include "engines/simd/shapes/lane_shapes.h"
#include "engines/simd/shapes/lane_target.h"
#include "ir/bounds/check_bounds.h"

namespace metalloid::engines::simd {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

// Parameters of a row: the state, and then what tells the simdgroup.
constexpr unsigned first_own = 1, own_parameters = 4;
// Instructions of all loops together: code with more needs its registers for itself.
constexpr std::size_t most_in_loops = 1200;
// What loops have in common must be at least so many-th of their work.
constexpr std::uint64_t least_part = 8;
// Loads of vectors are sorted out in registers, which takes longer where lanes do not lie side by side.
constexpr std::uint64_t sorted_row = 2, sorted_load = 4;
constexpr unsigned deepest_condition = 16;  // operands below each other

llvm::StringRef callee_of(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee ? callee->getName() : llvm::StringRef();
}

bool is_check(const Instruction& instruction) {
  return callee_of(instruction) == llvm::StringRef(ir::check_bounds_name);
}

// What lanes do among themselves, which nobody else sees.
bool is_across_lanes(const Instruction& instruction) {
  const llvm::StringRef callee = callee_of(instruction);
  return callee.starts_with("metalloid.simd.") || callee.starts_with("metalloid.quad.") ||
         callee == llvm::StringRef(lane_number_name);
}

bool has_effect(const Instruction& instruction) {
  return instruction.mayHaveSideEffects() && !is_check(instruction) && !is_across_lanes(instruction) &&
         !llvm::isa<llvm::AssumeInst>(instruction);
}

class Pair {
 public:
  // Of a program that has all parameters already.
  explicit Pair(llvm::Function& program)
      : program_(program),
        dominators_(managers_.functions.getResult<llvm::DominatorTreeAnalysis>(program)),
        loops_(managers_.functions.getResult<llvm::LoopAnalysis>(program)),
        shapes_(program, managers_.functions.getResult<llvm::UniformityInfoAnalysis>(program)) {}

  bool make() {
    if (!find_tail()) return false;
    find_own();
    if (!are_decided_early() || !pays()) return false;
    for (unsigned i = first_own; i < first_own + own_parameters; ++i) {
      twins_[program_.getArg(i)] = program_.getArg(i + own_parameters);
    }
    run_tail_twice();
    double_head();
    llvm::remapInstructionsInBlocks(second_tail_, twins_);
    llvm::removeUnreachableBlocks(program_);
    return true;
  }

 private:
  // The block from which on each simdgroup goes on by itself: all that has effects is behind it, and no loop if that
  // can be.
  bool find_tail() {
    for (BasicBlock& block : program_) {
      if (llvm::none_of(block, has_effect)) continue;
      tail_ = tail_ ? dominators_.findNearestCommonDominator(tail_, &block) : &block;
    }
    if (!tail_) return false;
    while (const llvm::Loop* loop = loops_.getLoopFor(tail_)) tail_ = before(*loop->getHeader());
    if (!reaches_loop(*tail_)) {
      for (BasicBlock* block = before(*tail_); block && !reaches_loop(*block); block = before(*block)) tail_ = block;
    }
    for (BasicBlock* block : reached_from(program_.getEntryBlock(), tail_)) is_in_head_.insert(block);
    for (BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&program_)) {
      if (is_in_head_.contains(block)) head_.push_back(block);
    }
    return tail_ != &program_.getEntryBlock();
  }

  BasicBlock* before(BasicBlock& block) const {
    const auto* node = dominators_.getNode(&block)->getIDom();
    return node ? node->getBlock() : nullptr;
  }

  // It and all blocks behind it, but not those behind `end`.
  static llvm::SmallVector<BasicBlock*, 16> reached_from(BasicBlock& block, const BasicBlock* end = nullptr) {
    llvm::SmallVector<BasicBlock*, 16> found = {&block};
    llvm::SmallPtrSet<BasicBlock*, 16> seen = {&block};
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i] == end) continue;
      for (BasicBlock* next : llvm::successors(found[i])) {
        if (seen.insert(next).second) found.push_back(next);
      }
    }
    return found;
  }

  bool reaches_loop(BasicBlock& block) const {
    return llvm::any_of(reached_from(block), [&](const BasicBlock* each) { return loops_.getLoopFor(each); });
  }

  // What is computed from the parameters that tell the simdgroup, in front of the tail.
  void find_own() {
    for (unsigned i = 0; i < own_parameters; ++i) own_.insert(program_.getArg(first_own + i));
    for (bool grows = true; grows;) {
      grows = false;
      for (BasicBlock* block : head_) {
        for (Instruction& instruction : *block) {
          if (block == tail_ && !llvm::isa<llvm::PHINode>(instruction)) break;
          if (own_.contains(&instruction)) continue;
          const auto is_own = [&](const llvm::Use& operand) { return own_.contains(operand.get()); };
          if (llvm::any_of(instruction.operands(), is_own)) grows |= own_.insert(&instruction).second;
        }
      }
    }
  }

  // Of what decides where to go on. Null if the way has no choice.
  static llvm::Use* condition_of(Instruction& terminator) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(&terminator);
    if (branch && branch->isConditional()) return &branch->getOperandUse(0);
    return llvm::isa<llvm::SwitchInst>(terminator) ? &terminator.getOperandUse(0) : nullptr;
  }

  bool are_decided_early() const {
    return llvm::all_of(head_, [&](BasicBlock* block) {
      Instruction& terminator = *block->getTerminator();
      if (block == tail_ || !own_.contains(&terminator)) return true;
      const llvm::Use* condition = condition_of(terminator);
      const llvm::Loop* loop = loops_.getLoopFor(block);
      return condition && shapes_.is_uniform(**condition) &&
             (!loop || is_decided(**condition, *loop->getOutermostLoop()));
    });
  }

  // Whether it is the same in all turns.
  bool is_decided(const Value& value, const llvm::Loop& loop, unsigned depth = deepest_condition) const {
    const auto* instruction = llvm::dyn_cast<Instruction>(&value);
    if (!instruction || !loop.contains(instruction)) return true;
    if (depth == 0 || llvm::isa<llvm::PHINode>(instruction)) return false;
    const bool stays = llvm::isa<llvm::LoadInst>(instruction)
                           ? instruction->hasMetadata(llvm::LLVMContext::MD_invariant_load)
                           : !instruction->mayReadFromMemory();
    return stays && llvm::all_of(instruction->operands(),
                                 [&](const llvm::Use& operand) { return is_decided(*operand, loop, depth - 1); });
  }

  // What 32 lanes take for it, about.
  std::uint64_t work_of(const Instruction& instruction) const {
    if (llvm::isa<llvm::PHINode, llvm::GetElementPtrInst, llvm::ExtractElementInst>(instruction)) return 0;
    if (shapes_.is_uniform(instruction) || instruction.getType()->isVoidTy()) return 0;
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
    const std::uint64_t elements = vector ? vector->getNumElements() : 1;
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!load) return elements;
    const auto size = program_.getDataLayout().getTypeStoreSize(load->getType()).getFixedValue();
    const Shape shape = shapes_.of(*load->getPointerOperand());
    const bool is_row = shape.kind == Shape::Kind::strided && shape.stride == static_cast<std::int64_t>(size);
    return elements * (!is_row ? sorted_load : vector ? sorted_row : 1);
  }

  bool pays() const {
    std::size_t size = 0;
    std::uint64_t common = 0, all = 0;
    for (const BasicBlock* block : head_) {
      const llvm::Loop* loop = loops_.getLoopFor(block);
      if (!loop) continue;
      size += block->size();
      for (const Instruction& instruction : *block) {
        const bool is_call = llvm::isa<llvm::CallInst>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction);
        if (is_call && !is_check(instruction) && !is_across_lanes(instruction)) return false;
        const std::uint64_t work = work_of(instruction);
        all += work;
        if (!own_.contains(&instruction)) common += work;
      }
    }
    return size <= most_in_loops && common != 0 && common < all && common * least_part >= all;
  }

  // The tail of the first simdgroup goes on with the second one's.
  void run_tail_twice() {
    BasicBlock* tail = tail_->splitBasicBlock(tail_->getFirstNonPHIIt(), "tail");
    const auto blocks = reached_from(*tail);
    const auto copy = [&](const char* name) {
      llvm::ValueToValueMapTy map;
      llvm::SmallVector<BasicBlock*, 16> copies;
      for (BasicBlock* block : blocks) {
        copies.push_back(llvm::CloneBasicBlock(block, map, name, &program_));
        map[block] = copies.back();
      }
      llvm::remapInstructionsInBlocks(copies, map);
      for (BasicBlock* block : copies) {
        for (llvm::PHINode& phi : block->phis()) {
          phi.removeIncomingValueIf([&](unsigned i) { return !llvm::is_contained(copies, phi.getIncomingBlock(i)); },
                                    /*DeletePHIIfEmpty=*/false);
        }
      }
      return copies;
    };
    const auto first = copy(".first");
    second_tail_ = copy(".second");
    tail_->getTerminator()->setSuccessor(0, first[0]);
    for (BasicBlock* block : first) {
      if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(block->getTerminator())) {
        llvm::BranchInst::Create(second_tail_[0], end->getIterator())->setDebugLoc(end->getDebugLoc());
        end->eraseFromParent();
      }
    }
    for (BasicBlock* block : second_tail_) {
      for (Instruction& instruction : *block) mark(instruction);
    }
  }

  static void mark(Instruction& instruction) {
    if (!is_check(instruction)) return;
    instruction.setMetadata(llvm::StringRef(second_simdgroup_name), llvm::MDNode::get(instruction.getContext(), {}));
  }

  void double_head() {
    llvm::SmallVector<Instruction*, 64> own;
    for (BasicBlock* block : head_) {
      for (Instruction& instruction : *block) {
        if (own_.contains(&instruction)) own.push_back(&instruction);
      }
    }
    llvm::SmallVector<Instruction*, 64> copies;
    for (Instruction* instruction : own) {
      if (instruction->isTerminator()) continue;
      Instruction* twin = instruction->clone();
      twin->insertAfter(instruction->getIterator());
      twins_[instruction] = twin;
      mark(*twin);
      copies.push_back(twin);
    }
    for (Instruction* twin : copies) {
      llvm::RemapInstruction(twin, twins_, llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
    }
    for (Instruction* instruction : own) {
      if (instruction->isTerminator()) end_where_they_part(*instruction);
    }
  }

  void end_where_they_part(Instruction& terminator) {
    Value* condition = *condition_of(terminator);
    llvm::IRBuilder<> builder(&terminator);
    Value* part = builder.CreateICmpNE(condition, twins_.lookup(condition));
    BasicBlock* block = terminator.getParent();
    BasicBlock* together = block->splitBasicBlock(&terminator, "together");
    block->getTerminator()->eraseFromParent();
    builder.SetInsertPoint(block);
    builder.CreateCondBr(part, failed(), together);
  }

  BasicBlock* failed() {
    if (failed_) return failed_;
    failed_ = BasicBlock::Create(program_.getContext(), "failed", &program_);
    llvm::IRBuilder<> builder(failed_);
    builder.CreateStore(builder.getInt8(1), program_.getArg(first_own + 2 * own_parameters));
    builder.CreateRetVoid();
    return failed_;
  }

  llvm::Function& program_;
  LaneManagers managers_;
  const llvm::DominatorTree& dominators_;
  const llvm::LoopInfo& loops_;
  const LaneShapes shapes_;
  BasicBlock *tail_ = nullptr, *failed_ = nullptr;
  llvm::SmallPtrSet<const BasicBlock*, 16> is_in_head_;
  llvm::SmallVector<BasicBlock*, 16> head_, second_tail_;  // the head with the tail's phis
  llvm::DenseSet<const Value*> own_;
  llvm::ValueToValueMapTy twins_;
};

}  // namespace

llvm::Function* pair_simdgroups(llvm::Function& row) {
  llvm::LLVMContext& context = row.getContext();
  llvm::SmallVector<llvm::Type*, 12> parameters(row.getFunctionType()->params());
  parameters.append(own_parameters, llvm::Type::getInt32Ty(context));
  parameters.push_back(llvm::PointerType::get(context, 0));
  auto* type = llvm::FunctionType::get(row.getReturnType(), parameters, false);
  llvm::Function* pair = llvm::Function::Create(type, row.getLinkage(), "pair", row.getParent());
  llvm::ValueToValueMapTy map;
  for (llvm::Argument& argument : row.args()) map[&argument] = pair->getArg(argument.getArgNo());
  llvm::SmallVector<llvm::ReturnInst*, 1> returns;
  llvm::CloneFunctionInto(pair, &row, map, llvm::CloneFunctionChangeType::LocalChangesOnly, returns);
  if (Pair(*pair).make()) return pair;
  pair->eraseFromParent();
  return nullptr;
}

}  // namespace metalloid::engines::simd
