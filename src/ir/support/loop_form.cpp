#include "ir/support/loop_form.h"

#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

namespace metalloid::ir {

void form_loops(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  llvm::FunctionPassManager form;
  form.addPass(llvm::LoopSimplifyPass());
  form.addPass(llvm::LCSSAPass());
  form.run(function, analyses);
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
}

llvm::Loop* copy_loop(llvm::Loop& loop, llvm::BasicBlock* behind, llvm::BasicBlock* dominator, const llvm::Twine& name,
                      llvm::ValueToValueMapTy& values, llvm::LoopInfo& loops, llvm::DominatorTree& dominators) {
  llvm::SmallVector<llvm::BasicBlock*, 8> blocks;
  llvm::Loop* copy = llvm::cloneLoopWithPreheader(behind, dominator, &loop, values, name, &loops, &dominators, blocks);
  llvm::remapInstructionsInBlocks(blocks, values);
  llvm::SmallVector<llvm::BasicBlock*, 4> exits;
  loop.getUniqueExitBlocks(exits);
  for (llvm::BasicBlock* exit : exits) {
    for (llvm::PHINode& phi : exit->phis()) {
      for (unsigned i = 0, count = phi.getNumIncomingValues(); i < count; ++i) {
        if (!loop.contains(phi.getIncomingBlock(i))) continue;
        llvm::Value* value = phi.getIncomingValue(i);
        const auto made = values.find(value);
        phi.addIncoming(made == values.end() ? value : static_cast<llvm::Value*>(made->second),
                        llvm::cast<llvm::BasicBlock>(static_cast<llvm::Value*>(values[phi.getIncomingBlock(i)])));
      }
    }
  }
  return copy;
}

}  // namespace metalloid::ir
