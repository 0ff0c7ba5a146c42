#include "engines/cpu_shared/passes/moved_coroutine.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Attributes.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

namespace metalloid::engines::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::coro::Shape;

class Moving {
 public:
  Moving(llvm::Function& entry, Shape& shape, bool resumes)
      : entry_(entry), shape_(shape), resumes_(resumes), begin_(*shape.CoroBegin), builder_(entry.getContext()) {}

  llvm::Function& run() {
    for (llvm::AnyCoroEndInst* end : shape_.CoroEnds) {
      end->replaceAllUsesWith(builder_.getFalse());
      end->eraseFromParent();
    }
    shape_.CoroEnds.clear();
    make_resume();
    BasicBlock &first = entry_.getEntryBlock(), &places = *shape_.AllocaSpillBlock;
    places.moveAfter(&first);
    resume_.splice(resume_.end(), &entry_, places.getIterator(), entry_.end());
    const llvm::SmallVector<BasicBlock*, 8> resumed = make_stops();
    copy_start(first, places);
    take_places(first, places);
    for (Instruction& instruction : first) line_in_entry(instruction);
    choose_stop(places, resumed);
    llvm::removeUnreachableBlocks(resume_);
    return resume_;
  }

 private:
  static llvm::Function& function_behind(llvm::Function& entry, llvm::FunctionType* type) {
    auto* made = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, entry.getName() + ".resume");
    entry.getParent()->getFunctionList().insertAfter(entry.getIterator(), made);
    return *made;
  }

  void make_resume() {
    llvm::LLVMContext& context = entry_.getContext();
    llvm::AttrBuilder frame(context);
    frame.addAttribute(llvm::Attribute::NonNull).addAttribute(llvm::Attribute::NoUndef);
    frame.addAlignmentAttr(shape_.FrameAlign).addDereferenceableAttr(shape_.FrameSize);
    resume_.setAttributes(llvm::AttributeList()
                              .addFnAttributes(context, {context, entry_.getAttributes().getFnAttrs()})
                              .addParamAttributes(context, 0, frame));
    llvm::DISubprogram* own = entry_.getSubprogram();
    if (!own) return;
    resume_.setSubprogram(own);
    entry_.setSubprogram(llvm::MDNode::replaceWithDistinct(own->clone()));
  }

  // Each says where to go on, and returns. Returns what is behind them.
  llvm::SmallVector<BasicBlock*, 8> make_stops() {
    llvm::SmallVector<BasicBlock*, 8> resumed;
    for (llvm::AnyCoroSuspendInst* each : shape_.CoroSuspends) {
      auto* stop = llvm::cast<llvm::CoroSuspendInst>(each);
      BasicBlock* before = stop->getParent();
      BasicBlock* behind = before->splitBasicBlock(stop, "resumed");
      before->getTerminator()->eraseFromParent();
      builder_.SetInsertPoint(before);
      builder_.CreateStore(shape_.getIndex(resumed.size()), place_of_stop());
      builder_.CreateRetVoid();
      resumed.push_back(behind);
      llvm::CoroSaveInst* save = stop->getCoroSave();
      stop->replaceAllUsesWith(builder_.getInt8(0));
      stop->eraseFromParent();
      save->eraseFromParent();
    }
    return resumed;
  }

  llvm::Value* place_of_stop() {
    return builder_.CreateStructGEP(shape_.FrameTy, &begin_, shape_.getSwitchIndexField());
  }

  // What runs up to the first stop.
  void copy_start(BasicBlock& first, BasicBlock& places) {
    llvm::SmallSetVector<BasicBlock*, 32> start;
    start.insert(&places);
    for (unsigned i = 0; i < start.size(); ++i) start.insert_range(llvm::successors(start[i]));
    llvm::ValueToValueMapTy copies;
    for (BasicBlock* block : start) copies[block] = llvm::CloneBasicBlock(block, copies, "", &entry_);
    for (BasicBlock* block : start) {
      auto* copy = llvm::cast<BasicBlock>(copies[block]);
      for (llvm::PHINode& phi : copy->phis()) {
        phi.removeIncomingValueIf([&](unsigned i) { return !start.contains(phi.getIncomingBlock(i)); });
      }
      for (Instruction& instruction : *copy) place_in_entry(instruction, copies);
    }
    first.getTerminator()->eraseFromParent();
    builder_.SetInsertPoint(&first);
    builder_.CreateStore(&resume_, builder_.CreateStructGEP(shape_.FrameTy, &begin_, Shape::SwitchFieldIndex::Resume));
    builder_.CreateBr(llvm::cast<BasicBlock>(copies[&places]));
    if (!resumes_) return;
    for (BasicBlock* block : start) {
      Instruction* end = llvm::cast<BasicBlock>(copies[block])->getTerminator();
      if (!llvm::isa<llvm::ReturnInst>(end)) continue;
      builder_.SetInsertPoint(end);
      builder_.SetCurrentDebugLocation(line_of(entry_));
      builder_.CreateCall(&resume_, {&begin_});
    }
  }

  void place_in_entry(Instruction& instruction, llvm::ValueToValueMapTy& copies) {
    llvm::RemapInstruction(&instruction, copies, llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
    line_in_entry(instruction);
  }

  void line_in_entry(Instruction& instruction) {
    llvm::DISubprogram* own = entry_.getSubprogram();
    if (!own) return;
    const auto line = [&](const llvm::DebugLoc& old) {
      return llvm::DebugLoc::replaceInlinedAtSubprogram(old, *own, entry_.getContext(), scopes_);
    };
    if (instruction.getDebugLoc()) instruction.setDebugLoc(line(instruction.getDebugLoc()));
    llvm::updateLoopMetadataDebugLocations(instruction, [&](llvm::Metadata* data) -> llvm::Metadata* {
      auto* old = llvm::dyn_cast_or_null<llvm::DILocation>(data);
      return old ? line(old).get() : data;
    });
  }

  static llvm::DebugLoc line_of(const llvm::Function& function) {
    llvm::DISubprogram* own = function.getSubprogram();
    return own ? llvm::DILocation::get(function.getContext(), 0, 0, own) : nullptr;
  }

  // The frame, and variables that it does not have.
  void take_places(BasicBlock& first, BasicBlock& places) {
    const auto is_moved = [&](const llvm::Use& use) {
      return llvm::cast<Instruction>(use.getUser())->getFunction() == &resume_;
    };
    begin_.replaceUsesWithIf(resume_.getArg(0), is_moved);
    for (Instruction& instruction : first) {
      if (!llvm::isa<llvm::AllocaInst>(instruction)) continue;
      Instruction* copy = instruction.clone();
      copy->insertBefore(places.begin());
      instruction.replaceUsesWithIf(copy, is_moved);
    }
  }

  void choose_stop(BasicBlock& places, llvm::ArrayRef<BasicBlock*> resumed) {
    auto* never = BasicBlock::Create(resume_.getContext(), "never", &resume_);
    builder_.SetCurrentDebugLocation(nullptr);
    builder_.SetInsertPoint(never);
    builder_.CreateUnreachable();
    places.getTerminator()->eraseFromParent();
    builder_.SetInsertPoint(&places);
    llvm::Value* place = builder_.CreateStructGEP(shape_.FrameTy, resume_.getArg(0), shape_.getSwitchIndexField());
    llvm::Value* stop = builder_.CreateLoad(shape_.getIndexType(), place);
    llvm::SwitchInst* choice = builder_.CreateSwitch(stop, never, resumed.size());
    for (const auto& [i, block] : llvm::enumerate(resumed)) choice->addCase(shape_.getIndex(i), block);
  }

  llvm::Function& entry_;
  Shape& shape_;
  bool resumes_;
  llvm::CoroBeginInst& begin_;
  llvm::IRBuilder<> builder_;
  llvm::Function& resume_ = function_behind(entry_, shape_.getResumeFunctionType());
  llvm::DenseMap<const llvm::MDNode*, llvm::MDNode*> scopes_;
};

}  // namespace

void MovedCoroutine::splitCoroutine(llvm::Function& entry, llvm::coro::Shape& shape,
                                    llvm::SmallVectorImpl<llvm::Function*>& made,
                                    llvm::TargetTransformInfo& /*costs*/) {
  made.push_back(&Moving(entry, shape, resumes_).run());
}

}  // namespace metalloid::engines::cpu
