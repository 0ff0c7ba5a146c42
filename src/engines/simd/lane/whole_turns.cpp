#include "engines/simd/lane/whole_turns.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <cstddef>
#include <cstdint>

#include "engines/simd/shapes/lane_shapes.h"
#include "engines/simd/shapes/lane_target.h"
#include "ir/bounds/check_bounds.h"
#include "ir/passes/normalise_attributes.h"
#include "metalloid/reflection.h"

namespace metalloid::engines::simd {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

// Instructions of a loop, and of all loops of a kernel. Those whose accesses would be there twice for some lanes and
// for all (widening.cpp) are so anyway.
constexpr std::size_t most_in_loop = 150, most_apart_in_loop = 1000, most_in_all = 1000;

class WholeTurns {
 public:
  explicit WholeTurns(llvm::Function& lane)
      : lane_(lane),
        loops_(managers_.functions.getResult<llvm::LoopAnalysis>(lane)),
        shapes_(lane, managers_.functions.getResult<llvm::UniformityInfoAnalysis>(lane)) {}

  void split() {
    llvm::SmallVector<llvm::Loop*, 8> chosen;
    std::size_t all = 0;
    for (llvm::Loop* loop : loops_.getLoopsInPreorder()) {
      if (!loop->isInnermost() || !is_row(*loop)) continue;
      std::size_t size = 0;
      for (const BasicBlock* block : loop->blocks()) size += block->size();
      if (size > (has_apart(*loop) ? most_apart_in_loop : most_in_loop)) continue;
      if (all + size > most_in_all || !is_alone(*loop)) continue;
      all += size;
      chosen.push_back(loop);
    }
    for (llvm::Loop* loop : chosen) split(*loop);
  }

 private:
  // Whether lanes leave at the header, by a number that grows with the bits of the lane's number alone: lanes of the
  // same turn are close to each other.
  bool is_row(const llvm::Loop& loop) const {
    const BasicBlock* header = loop.getHeader();
    if (loop.getExitingBlock() != header || !loop.getLoopLatch() || loop.getLoopLatch() == header) return false;
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(header->getTerminator());
    if (!branch || !branch->isConditional()) return false;
    const auto* condition = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
    if (!condition || condition->getParent() != header) return false;
    const Value &left = *condition->getOperand(0), &right = *condition->getOperand(1);
    return (grows(left) && shapes_.is_uniform(right)) || (shapes_.is_uniform(left) && grows(right));
  }

  bool grows(const Value& value) const {
    if (shapes_.is_uniform(value)) return false;
    return llvm::all_of(shapes_.bits_of(value).growth, [](const auto& growth) { return growth.has_value(); });
  }

  // Whether it reads runs or pieces of memory.
  bool has_apart(const llvm::Loop& loop) const {
    return llvm::any_of(loop.blocks(), [&](const BasicBlock* block) {
      return llvm::any_of(*block, [&](const Instruction& instruction) {
        const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
        return load && shapes_.is_varying(*load->getPointerOperand()) &&
               shapes_.bits_of(*load->getPointerOperand()).is_known();
      });
    });
  }

  // Whether what the header does may be done twice, and nothing waits for others.
  static bool is_alone(const llvm::Loop& loop) {
    for (const BasicBlock* block : loop.blocks()) {
      for (const Instruction& instruction : *block) {
        if (block == loop.getHeader() && instruction.mayHaveSideEffects()) return false;
        const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        if (!call || llvm::isa<llvm::IntrinsicInst>(call)) continue;
        const llvm::Function* callee = call->getCalledFunction();
        if (!callee || call->isConvergent()) return false;
        if (call->mayHaveSideEffects() && callee->getName() != llvm::StringRef(ir::check_bounds_name)) return false;
      }
    }
    return true;
  }

  llvm::CallInst* ask(llvm::IRBuilder<>& builder, const char* operation, Value& value) {
    return builder.CreateCall(ir::declare_operation(*lane_.getParent(), operation), {&value});
  }

  // Numbers that grow from lane to lane stay below a bound if that of the last lane does, and none wraps in between:
  // one number is compared instead of 32. Null if it is no such comparison.
  Value* ends_go_on(llvm::IRBuilder<>& builder, const llvm::ICmpInst& comparison, bool goes_on_if_true,
                    const llvm::ValueToValueMapTy& twins) {
    const bool is_left = !shapes_.is_uniform(*comparison.getOperand(0));
    const auto twin = [&](unsigned operand) -> Value* {
      Value* value = comparison.getOperand(operand);
      const auto found = twins.find(value);
      return found == twins.end() ? value : static_cast<Value*>(found->second);
    };
    Value *number = twin(is_left ? 0 : 1), *bound = twin(is_left ? 1 : 0);
    const Shape shape = shapes_.of(*comparison.getOperand(is_left ? 0 : 1));
    if (!number->getType()->isIntegerTy(32) && !number->getType()->isIntegerTy(64)) return nullptr;
    if (shape.kind != Shape::Kind::strided || shape.stride <= 0 || shape.may_wrap) return nullptr;
    auto predicate = is_left ? comparison.getPredicate() : comparison.getSwappedPredicate();
    if (!goes_on_if_true) predicate = llvm::CmpInst::getInversePredicate(predicate);
    if (!llvm::ICmpInst::isLT(predicate) && !llvm::ICmpInst::isLE(predicate)) return nullptr;
    const bool is_word = number->getType()->isIntegerTy(32);
    llvm::CallInst* first =
        ask(builder, is_word ? "metalloid.simd.broadcast_first.b32" : "metalloid.simd.broadcast_first.b64", *number);
    first->setMetadata(llvm::StringRef(of_lane_0_name), llvm::MDNode::get(lane_.getContext(), {}));
    const auto growth = static_cast<std::uint64_t>(shape.stride) * (step_width(lane_) - 1);
    Value* last = builder.CreateAdd(first, llvm::ConstantInt::get(number->getType(), growth));
    return builder.CreateAnd(builder.CreateICmp(predicate, last, bound),
                             builder.CreateICmp(llvm::CmpInst::getNonStrictPredicate(predicate), first, last));
  }

  void split(const llvm::Loop& loop) {
    BasicBlock *header = loop.getHeader(), *before = loop.getLoopPredecessor();
    if (!before) return;
    llvm::ValueToValueMapTy twins;
    llvm::SmallVector<BasicBlock*, 8> copies;
    for (BasicBlock* block : loop.blocks()) {
      copies.push_back(llvm::CloneBasicBlock(block, twins, ".whole", &lane_));
      twins[block] = copies.back();
    }
    llvm::remapInstructionsInBlocks(copies, twins);
    auto* whole = llvm::cast<BasicBlock>(static_cast<Value*>(twins[header]));
    // All go on, or all go to the loop as it was.
    auto* branch = llvm::cast<llvm::BranchInst>(whole->getTerminator());
    const bool goes_on_if_true = loop.contains(header->getTerminator()->getSuccessor(0));
    llvm::IRBuilder<> builder(branch);
    const auto& original = *llvm::cast<llvm::BranchInst>(header->getTerminator())->getCondition();
    Value* all = ends_go_on(builder, llvm::cast<llvm::ICmpInst>(original), goes_on_if_true, twins);
    if (!all) {
      Value* leaves = branch->getCondition();
      if (goes_on_if_true) leaves = builder.CreateNot(leaves);
      all = builder.CreateICmpEQ(ask(builder, "metalloid.simd.ballot", *leaves), builder.getInt64(0));
    }
    BasicBlock* body = branch->getSuccessor(goes_on_if_true ? 0 : 1);
    BasicBlock* rest = BasicBlock::Create(lane_.getContext(), "rest", &lane_, header);
    builder.CreateCondBr(all, body, rest);
    branch->eraseFromParent();
    llvm::BranchInst::Create(header, rest)->setDebugLoc(header->getTerminator()->getDebugLoc());
    before->getTerminator()->replaceSuccessorWith(header, whole);
    header->getTerminator()->setMetadata(llvm::StringRef(rest_of_turns_name),
                                         llvm::MDNode::get(lane_.getContext(), {}));
    for (llvm::PHINode& phi : header->phis()) {
      const int place = phi.getBasicBlockIndex(before);
      phi.setIncomingBlock(static_cast<unsigned>(place), rest);
      phi.setIncomingValue(static_cast<unsigned>(place), twins[&phi]);
    }
  }

  llvm::Function& lane_;
  LaneManagers managers_;
  const llvm::LoopInfo& loops_;
  const LaneShapes shapes_;
};

}  // namespace

void split_off_whole_turns(llvm::Function& lane) { WholeTurns(lane).split(); }

}  // namespace metalloid::engines::simd
