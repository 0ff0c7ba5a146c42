#include "engines/simd/lane/count_turns.h"

#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace metalloid::engines::simd {

llvm::PreservedAnalyses CountTurnsPass::run(llvm::Loop& loop, llvm::LoopAnalysisManager& /*manager*/,
                                            llvm::LoopStandardAnalysisResults& analyses, llvm::LPMUpdater&) {
  auto nothing = llvm::PreservedAnalyses::all();
  llvm::BasicBlock *before = loop.getLoopPreheader(), *latch = loop.getLoopLatch(), *leaves = loop.getExitingBlock();
  if (!before || !latch || !leaves) return nothing;
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(leaves->getTerminator());
  const llvm::SCEV* turns = analyses.SE.getBackedgeTakenCount(&loop);
  if (!branch || !branch->isConditional() || llvm::isa<llvm::SCEVCouldNotCompute, llvm::SCEVConstant>(turns))
    return nothing;
  const llvm::ConstantRange range = analyses.SE.getUnsignedRange(turns);
  const llvm::APInt* count = range.getSingleElement();
  if (!count) return nothing;
  llvm::IRBuilder<> builder(loop.getHeader(), loop.getHeader()->begin());
  llvm::Type* type = builder.getIntNTy(count->getBitWidth());
  llvm::PHINode* turn = builder.CreatePHI(type, 2);
  turn->addIncoming(llvm::ConstantInt::get(type, 0), before);
  builder.SetInsertPoint(latch->getTerminator());
  turn->addIncoming(builder.CreateNUWAdd(turn, llvm::ConstantInt::get(type, 1)), latch);
  builder.SetInsertPoint(branch);
  llvm::Value* last = llvm::ConstantInt::get(type, *count);
  const bool goes_on_if_true = loop.contains(branch->getSuccessor(0));
  branch->setCondition(goes_on_if_true ? builder.CreateICmpNE(turn, last) : builder.CreateICmpEQ(turn, last));
  analyses.SE.forgetLoop(&loop);
  return llvm::getLoopPassPreservedAnalyses();
}

}  // namespace metalloid::engines::simd
