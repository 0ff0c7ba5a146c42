#include "ir/passes/drop_dead_code.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/IPO/SCCP.h>
#include <llvm/Transforms/Scalar/DCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <memory>
#include <utility>
#include <vector>

#include "ir/passes/initialisers.h"
#include "ir/support/pass_managers.h"

namespace metalloid::ir {
namespace {

using llvm::BasicBlock;

constexpr const char* marker_name = "metalloid.block";  // metadata: a block's number

// The function constant without a value that an instruction reads.
const llvm::GlobalVariable* undefined_constant_of(const llvm::Instruction& instruction) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  if (!load) return nullptr;
  const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(load->getPointerOperand()->stripInBoundsOffsets());
  return global && is_undefined(*global) ? global : nullptr;
}

// Blocks by their number, and which of them the optimised copy still has.
class Markers {
 public:
  void add(llvm::Function& original, const llvm::ValueToValueMapTy& copies) {
    for (BasicBlock& block : original) {
      auto& copy = llvm::cast<BasicBlock>(*copies.lookup(&block));
      llvm::IRBuilder<> builder(&copy, copy.getFirstInsertionPt());
      builder.SetCurrentDebugLocation({});
      // EarlyCSE looks through this intrinsic, other than through calls of functions.
      llvm::CallInst* marker = builder.CreateIntrinsic(llvm::Intrinsic::sideeffect, {});
      llvm::Metadata* number = llvm::ConstantAsMetadata::get(builder.getInt64(blocks_.size()));
      marker->setMetadata(marker_name, llvm::MDNode::get(builder.getContext(), number));
      blocks_.push_back(&block);
    }
  }

  void find_in(const llvm::Function& copy, const llvm::Function& original) {
    for (const llvm::Instruction& instruction : llvm::instructions(copy)) {
      if (const auto* constant = undefined_constant_of(instruction)) needed_[&original].insert(constant->getName());
      const llvm::MDNode* marker = instruction.getMetadata(marker_name);
      if (!marker) continue;
      const auto* number = llvm::mdconst::extract<llvm::ConstantInt>(marker->getOperand(0));
      left_.insert(blocks_[number->getZExtValue()]);
    }
  }

  bool is_left(const BasicBlock& block) const { return left_.contains(&block); }
  bool is_needed(const llvm::Function& original, const llvm::GlobalVariable& constant) const {
    const auto found = needed_.find(&original);
    return found != needed_.end() && found->second.contains(constant.getName());
  }

 private:
  std::vector<const BasicBlock*> blocks_;
  llvm::SmallPtrSet<const BasicBlock*, 32> left_;
  llvm::DenseMap<const llvm::Function*, llvm::StringSet<>> needed_;  // names of constants
};

llvm::FunctionPassManager simplifications() {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::DCEPass());  // reads whose value turned out to matter no more
  return passes;
}

void drop_unneeded_reads(llvm::Function& function, const Markers& markers) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    const llvm::GlobalVariable* constant = undefined_constant_of(instruction);
    if (!constant || markers.is_needed(function, *constant)) continue;
    instruction.replaceAllUsesWith(llvm::Constant::getNullValue(instruction.getType()));
    instruction.eraseFromParent();
  }
}

void cut(BasicBlock& block, const llvm::SmallPtrSetImpl<BasicBlock*>& dead) {
  llvm::Instruction& branch = *block.getTerminator();
  llvm::SmallPtrSet<BasicBlock*, 4> all, left;
  for (BasicBlock* successor : llvm::successors(&block)) {
    all.insert(successor);
    if (!dead.contains(successor)) left.insert(successor);
  }
  // Without a way on, the code is one whose behaviour C leaves undefined: it stays.
  if (left.empty() || left.size() == all.size()) return;
  if (left.size() == 1) {
    for (BasicBlock* successor : llvm::successors(&block)) {
      if (successor != *left.begin()) successor->removePredecessor(&block, /*KeepOneInputPHIs=*/true);
    }
    for (unsigned ways = llvm::count(llvm::successors(&block), *left.begin()); ways > 1; --ways) {
      (*left.begin())->removePredecessor(&block, /*KeepOneInputPHIs=*/true);
    }
    llvm::IRBuilder<> builder(&branch);
    builder.CreateBr(*left.begin());
    branch.eraseFromParent();
    return;
  }
  auto* choice = llvm::dyn_cast<llvm::SwitchInst>(&branch);
  if (!choice || dead.contains(choice->getDefaultDest())) return;
  for (auto option = choice->case_begin(); option != choice->case_end();) {
    if (!dead.contains(option->getCaseSuccessor())) {
      ++option;
      continue;
    }
    option->getCaseSuccessor()->removePredecessor(&block, /*KeepOneInputPHIs=*/true);
    option = choice->removeCase(option);
  }
}

void cut(llvm::Function& function, const Markers& markers) {
  if (!markers.is_left(function.getEntryBlock())) return;  // nobody calls it
  drop_unneeded_reads(function, markers);
  llvm::SmallPtrSet<BasicBlock*, 16> dead;
  for (BasicBlock& block : function) {
    if (!markers.is_left(block)) dead.insert(&block);
  }
  if (dead.empty()) return;
  for (BasicBlock& block : function) {
    if (!dead.contains(&block)) cut(block, dead);
  }
  llvm::EliminateUnreachableBlocks(function);
}

}  // namespace

void drop_dead_code(llvm::ArrayRef<llvm::Function*> functions) {
  PassManagers managers;
  for (llvm::Function* function : functions) {
    llvm::ValueToValueMapTy copies;
    llvm::Function* copy = llvm::CloneFunction(function, copies);
    Markers markers;
    markers.add(*function, copies);
    simplifications().run(*copy, managers.functions);
    managers.functions.clear(*copy, copy->getName());
    markers.find_in(*copy, *function);
    copy->eraseFromParent();
    cut(*function, markers);
  }
}

void drop_dead_code(llvm::Module& module) {
  llvm::ValueToValueMapTy copies;
  const std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module, copies);
  Markers markers;
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) markers.add(function, copies);
  }
  {
    PassManagers managers;
    llvm::ModulePassManager passes;
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(simplifications()));
    passes.addPass(llvm::IPSCCPPass(llvm::IPSCCPOptions(/*AllowFuncSpec=*/false)));
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(simplifications()));
    passes.addPass(llvm::GlobalDCEPass());
    passes.run(*copy, managers.modules);
  }
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const llvm::Value* own = copies.lookup(&function);
    if (!own) continue;  // nobody calls it
    markers.find_in(llvm::cast<llvm::Function>(*own), function);
    cut(function, markers);
  }
  PassManagers managers;
  llvm::GlobalDCEPass().run(module, managers.modules);
}

}  // namespace metalloid::ir
