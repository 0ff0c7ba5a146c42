#include "ir/math/rare_part.h"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace metalloid::ir::math {

llvm::SmallVector<llvm::Value*, 2> with_rare_part(llvm::ArrayRef<llvm::Value*> usual, Mask rare,
                                                  llvm::Function& function, llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::IRBuilder<>& builder = rare.builder();
  llvm::Value* some = any(rare);
  llvm::BasicBlock* before = builder.GetInsertBlock();
  llvm::Instruction* rarely = llvm::SplitBlockAndInsertIfThen(
      some, builder.GetInsertPoint(), false, llvm::MDBuilder(builder.getContext()).createUnlikelyBranchWeights());
  llvm::BasicBlock* after = rarely->getSuccessor(0);
  builder.SetInsertPoint(rarely);
  llvm::SmallVector<llvm::Value*, 4> all(arguments);
  all.append(usual.begin(), usual.end());
  llvm::Value* results = builder.CreateCall(&function, all);
  llvm::SmallVector<llvm::Value*, 2> merged;
  for (std::size_t i = 0; i < usual.size(); ++i) {
    llvm::Value* other = usual.size() == 1 ? results : builder.CreateExtractValue(results, static_cast<unsigned>(i));
    auto* phi = llvm::PHINode::Create(usual[i]->getType(), 2, "", after->getFirstNonPHIIt());
    phi->addIncoming(usual[i], before);
    phi->addIncoming(other, rarely->getParent());
    merged.push_back(phi);
  }
  builder.SetInsertPoint(after, after->getFirstInsertionPt());
  return merged;
}

Floats with_rare_part(Floats usual, Mask rare, llvm::Function& function, llvm::ArrayRef<llvm::Value*> arguments) {
  return {usual.emitter(), with_rare_part(llvm::ArrayRef(usual.value()), rare, function, arguments)[0]};
}

}  // namespace metalloid::ir::math
