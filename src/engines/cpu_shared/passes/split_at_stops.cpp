#include "engines/cpu_shared/passes/split_at_stops.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Coroutines/CoroCleanup.h>
#include <llvm/Transforms/Coroutines/CoroEarly.h>
#include <llvm/Transforms/Coroutines/CoroSplit.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Scalar/Sink.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "engines/cpu_shared/kernel_abi.h"
#include "engines/cpu_shared/passes/drop_repeated.h"
#include "engines/cpu_shared/passes/moved_coroutine.h"
#include "ir/support/pass_managers.h"

namespace metalloid::engines::cpu {
namespace {

using llvm::BasicBlock;
using llvm::CallInst;
using llvm::Value;
using llvm::Intrinsic::ID;

// In which a coroutine is split (run_coroutine_passes): it returns at its first stop, or goes on at once.
namespace ways {
constexpr unsigned returns = 0, resumes = 1;
}  // namespace ways

class Splitting {
 public:
  Splitting(llvm::Module& module, llvm::Function& entry, const Stops& stops)
      : module_(module), entry_(entry), stops_(stops), builder_(module.getContext()) {}

  void run() {
    std::vector<llvm::ReturnInst*> returns;
    for (BasicBlock& block : entry_) {
      if (auto* last = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator())) returns.push_back(last);
    }
    begin();
    make_exit();
    for (CallInst* call : stops_.calls) stop_at(*call);
    if (repeats_start()) stop_in_front();
    for (llvm::ReturnInst* last : returns) {
      builder_.SetInsertPoint(last);
      stops_.end(builder_);
      builder_.CreateBr(exit_);
      last->eraseFromParent();
    }
    entry_.setPresplitCoroutine();
  }

  // After LLVM's passes. What the frame takes was asked for by a store, which they made one of a constant.
  std::uint32_t take_frame_bytes() {
    std::uint64_t bytes = 0;
    for (llvm::User* user : llvm::make_early_inc_range(frame_bytes_->users())) {
      auto* store = llvm::cast<llvm::StoreInst>(user);
      bytes = llvm::cast<llvm::ConstantInt>(store->getValueOperand())->getZExtValue();
      store->eraseFromParent();
    }
    frame_bytes_->eraseFromParent();
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
  }

 private:
  Value* load_state(std::size_t offset) {
    return builder_.CreateLoad(builder_.getPtrTy(),
                               builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), entry_.getArg(0), offset));
  }

  void begin() {
    llvm::Type* word = builder_.getInt64Ty();
    frame_bytes_ = new llvm::GlobalVariable(module_, word, false, llvm::GlobalValue::ExternalLinkage,
                                            llvm::ConstantInt::get(word, 0), "metalloid_frame_bytes");
    BasicBlock& first = entry_.getEntryBlock();
    builder_.SetInsertPoint(&first, first.getFirstNonPHIOrDbgOrAlloca());
    builder_.CreateStore(builder_.CreateIntrinsic(ID(llvm::Intrinsic::coro_size), {word}, {}), frame_bytes_);
    Value* frame = load_state(offsetof(ThreadgroupState, frame));
    Value* none = llvm::ConstantPointerNull::get(builder_.getPtrTy());
    Value* id = builder_.CreateIntrinsic(llvm::Intrinsic::coro_id, {},
                                         {builder_.getInt32(stops_.frame_alignment), none, none, none});
    handle_ = builder_.CreateIntrinsic(llvm::Intrinsic::coro_begin_custom_abi, {},
                                       {id, frame, builder_.getInt32(ways::returns)});
  }

  void make_exit() {
    exit_ = BasicBlock::Create(module_.getContext(), "stopped", &entry_);
    builder_.SetInsertPoint(exit_);
    Value* none = llvm::ConstantTokenNone::get(module_.getContext());
    builder_.CreateIntrinsic(llvm::Intrinsic::coro_end, {}, {handle_, builder_.getFalse(), none});
    builder_.CreateRetVoid();
  }

  void stop_at(CallInst& call) {
    builder_.SetInsertPoint(&call);
    stops_.leave(builder_, call);
    Value* none = llvm::ConstantTokenNone::get(module_.getContext());
    Value* way = builder_.CreateIntrinsic(llvm::Intrinsic::coro_suspend, {}, {none, builder_.getFalse()});
    BasicBlock* before = call.getParent();
    BasicBlock* after = before->splitBasicBlock(&call, "resumed");
    before->getTerminator()->eraseFromParent();
    builder_.SetInsertPoint(before);
    // 0: resumed; 1: destroyed, which the engine never does; else: suspended.
    llvm::SwitchInst* branch = builder_.CreateSwitch(way, exit_, 2);
    branch->addCase(builder_.getInt8(0), after);
    branch->addCase(builder_.getInt8(1), exit_);
    stopped_.insert(before);
    resumed_.push_back(after);
    if (!call.getType()->isVoidTy()) {
      builder_.SetInsertPoint(&call);
      call.replaceAllUsesWith(stops_.take_up(builder_, call));
    }
    call.eraseFromParent();
  }

  // Whether much of what runs up to the first stop also runs behind one.
  bool repeats_start() const {
    const BlockSet start = reached_without_stop(entry_.getEntryBlock());
    BlockSet behind;
    for (const BasicBlock* block : resumed_) behind.insert_range(reached_without_stop(*block));
    unsigned common = 0;
    for (const BasicBlock* block : start) common += behind.contains(block) ? block->size() : 0;
    return common > stops_.most_repeated && common > entry_.getInstructionCount() / 5;
  }

  using BlockSet = llvm::SmallSetVector<const BasicBlock*, 32>;
  BlockSet reached_without_stop(const BasicBlock& from) const {
    BlockSet reached;
    reached.insert(&from);
    for (unsigned i = 0; i < reached.size(); ++i) {
      if (!stopped_.contains(reached[i])) reached.insert_range(llvm::successors(reached[i]));
    }
    return reached;
  }

  // Then there is one copy of it.
  void stop_in_front() {
    auto* begin = llvm::cast<CallInst>(handle_);
    begin->setArgOperand(2, builder_.getInt32(ways::resumes));
    builder_.SetInsertPoint(begin->getNextNode());
    Value* none = llvm::ConstantTokenNone::get(module_.getContext());
    builder_.CreateIntrinsic(llvm::Intrinsic::coro_suspend, {}, {none, builder_.getFalse()});
  }

  llvm::Module& module_;
  llvm::Function& entry_;
  const Stops& stops_;
  llvm::IRBuilder<> builder_;
  llvm::GlobalVariable* frame_bytes_ = nullptr;
  Value* handle_ = nullptr;
  BasicBlock* exit_ = nullptr;
  llvm::SmallPtrSet<const BasicBlock*, 16> stopped_;  // blocks that end with a stop
  llvm::SmallVector<const BasicBlock*, 16> resumed_;  // and those behind
};

// What is computed anew after a stop instead of keeping it in its frame: at most one thing from the frame goes
// into it, and no division.
bool is_cheap(llvm::Instruction& instruction) {
  if (instruction.isIntDivRem() || instruction.isFPDivRem()) return false;
  if (!llvm::isa<llvm::CastInst, llvm::GetElementPtrInst, llvm::BinaryOperator, llvm::CmpInst, llvm::InsertElementInst,
                 llvm::ShuffleVectorInst>(instruction)) {
    return false;
  }
  return llvm::count_if(instruction.operands(), [](Value* operand) { return !llvm::isa<llvm::Constant>(operand); }) <=
         1;
}

void run_coroutine_passes(llvm::Module& module, llvm::TargetMachine& machine) {
  ir::PassManagers managers(&machine);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::CoroEarlyPass());
  const auto way = [](bool resumes) -> llvm::CoroSplitPass::BaseABITy {
    return [resumes](llvm::Function& function, llvm::coro::Shape& shape) {
      return std::make_unique<MovedCoroutine>(function, shape, is_cheap, resumes);
    };
  };
  passes.addPass(llvm::createModuleToPostOrderCGSCCPassAdaptor(
      llvm::CoroSplitPass({way(/*resumes=*/false), way(/*resumes=*/true)}, /*OptimizeFrame=*/true)));
  passes.addPass(llvm::CoroCleanupPass());
  passes.run(module, managers.modules);
}

// Frames hold values and never variables (lower_private_memory): no other access goes to them.
void set_frame_apart(llvm::Function& resume) {
  llvm::MDBuilder metadata(resume.getContext());
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain("frames");
  llvm::MDNode* frame = llvm::MDNode::get(resume.getContext(), metadata.createAnonymousAliasScope(domain, "frame"));
  for (llvm::Instruction& instruction : llvm::instructions(resume)) {
    if (!instruction.mayReadOrWriteMemory()) continue;
    const Value* address = llvm::getLoadStorePointerOperand(&instruction);
    const bool is_frame = address && llvm::getUnderlyingObject(address, /*MaxLookup=*/0) == resume.getArg(0);
    instruction.setMetadata(is_frame ? llvm::LLVMContext::MD_alias_scope : llvm::LLVMContext::MD_noalias, frame);
  }
}

// Each block of the resumed function loads what it needs from the frame, and loops should not: so another round of
// optimisation.
void clean_up(llvm::Module& module, llvm::Function& entry, llvm::TargetMachine& machine) {
  ir::PassManagers managers(&machine);
  llvm::ModulePassManager drop;
  drop.addPass(llvm::GlobalDCEPass());
  drop.run(module, managers.modules);
  llvm::Function* resume = module.getFunction((entry.getName() + ".resume").str());
  if (resume) {
    resume->setCallingConv(llvm::CallingConv::C);
    set_frame_apart(*resume);
  }
  llvm::FunctionPassManager simplify;
  simplify.addPass(llvm::SimplifyCFGPass());  // the start still has all that is behind its stops
  simplify.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  simplify.addPass(llvm::SimplifyCFGPass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  simplify.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true));
  simplify.addPass(DropRepeatedPass());
  simplify.addPass(llvm::DSEPass());
  simplify.addPass(llvm::InstCombinePass());
  simplify.addPass(llvm::SimplifyCFGPass());
  simplify.addPass(llvm::ADCEPass());
  simplify.addPass(llvm::SinkingPass());  // what only rare ways want, together with its loads
  simplify.run(entry, managers.functions);
  if (resume) simplify.run(*resume, managers.functions);
}

}  // namespace

std::uint32_t split_at_stops(llvm::Module& module, llvm::Function& entry, const Stops& stops,
                             llvm::TargetMachine& machine) {
  Splitting splitting(module, entry, stops);
  splitting.run();
  run_coroutine_passes(module, machine);
  const std::uint32_t bytes = splitting.take_frame_bytes();
  clean_up(module, entry, machine);
  return bytes;
}

}  // namespace metalloid::engines::cpu
