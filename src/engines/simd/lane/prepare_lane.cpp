#include "engines/simd/lane/prepare_lane.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/SimplifyQuery.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/BreakCriticalEdges.h>
#include <llvm/Transforms/Utils/FixIrreducible.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <llvm/Transforms/Utils/UnifyFunctionExitNodes.h>

#include <llvm/Transforms/Vectorize/LoadStoreVectorizer.h>

#include <optional>
#include <utility>

#include "engines/cpu_shared/passes/check_bounds.h"
#include "engines/simd/lane/choose_values.h"
#include "engines/simd/lane/count_turns.h"
#include "engines/simd/lane/limit_unrolling.h"
#include "engines/simd/shapes/lane_target.h"
#include "ir/support/long_blocks.h"

namespace metalloid::engines::simd {
namespace {

// The last block of a loop runs once more when its lanes have left one after the other, to find that none is there. So
// it does nothing else: what it had comes in front of it, where code without lanes is stepped over.
void empty_latches(llvm::Function& lane, llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(lane);
  auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(lane);
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    llvm::BasicBlock* latch = loop->getLoopLatch();
    if (!latch || latch == loop->getHeader() || latch->size() == 1) continue;
    llvm::SplitBlock(latch, latch->getTerminator(), &dominators, &loops, nullptr, latch->getName() + ".turn_end");
  }
}

// That two numbers share no bit may be known of the lanes alone that come to an `or`. Where rows of memory begin is
// computed for lanes that take no part, too, and there only a sum is what it would be from its neighbours.
void add_disjoint_numbers(llvm::Function& lane) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(lane))) {
    auto* both = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&instruction);
    if (!both || !both->isDisjoint()) continue;
    auto* sum = llvm::BinaryOperator::CreateAdd(both->getOperand(0), both->getOperand(1));
    llvm::ReplaceInstWithInst(both, sum);
  }
}

// LLVM leaves out the mask of a number where a constant has its bits: of ((s & 2) * 256 | 256) + v it makes
// (s * 256 + v) | 256. Lanes that differ in v do not differ in what is or-ed to it, which goes to s again.
void take_constants_from_sums(llvm::Function& lane) {
  const llvm::SimplifyQuery query(lane.getDataLayout());
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(lane))) {
    auto* both = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&instruction);
    const auto* constant = both ? llvm::dyn_cast<llvm::ConstantInt>(both->getOperand(1)) : nullptr;
    auto* sum = constant ? llvm::dyn_cast<llvm::BinaryOperator>(both->getOperand(0)) : nullptr;
    const auto* apart = llvm::dyn_cast_or_null<llvm::PossiblyDisjointInst>(sum);
    if (!apart || !apart->isDisjoint() || both->isDisjoint()) continue;
    for (const unsigned own : {0u, 1u}) {
      llvm::Value* other = sum->getOperand(1 - own);
      if (!llvm::MaskedValueIsZero(other, constant->getValue(), query)) continue;
      llvm::IRBuilder<> builder(both);
      both->replaceAllUsesWith(builder.CreateAdd(builder.CreateOr(sum->getOperand(own), both->getOperand(1)), other));
      both->eraseFromParent();
      break;
    }
  }
}

}  // namespace

void optimise_lane(llvm::Function& lane) {
  LaneManagers managers;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(ChooseValuesPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), /*UseMemorySSA=*/true));
  passes.addPass(LimitUnrollingPass());
  llvm::LoopPassManager loops;
  loops.addPass(llvm::IndVarSimplifyPass(/*WidenIndVars=*/false));
  loops.addPass(CountTurnsPass());
  loops.addPass(llvm::LoopFullUnrollPass(/*OptLevel=*/2));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops)));
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  // A load that other lanes' writes lie in front of is not what was read before them: the write may be in a branch of
  // one lane, which the way of the others goes around.
  passes.addPass(llvm::GVNPass(llvm::GVNOptions().setLoadPRE(false)));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::ADCEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));  // arrays whose indices became constants just now
  passes.addPass(llvm::InstCombinePass());
  passes.run(lane, managers.functions);
  take_constants_from_sums(lane);
  ir::split_long_blocks(lane);
}

void check_bounds(llvm::Function& lane, const KernelInfo& info) {
  LaneManagers managers;
  cpu::check_bounds(lane, info, managers.functions);
  managers.functions.invalidate(lane, llvm::PreservedAnalyses::none());
  // Offsets are largely what addresses are computed from.
  llvm::EarlyCSEPass().run(lane, managers.functions);
}

namespace {

// LoadStoreVectorizer takes p[i] and q[i] for one place if p and q are the same address, whatever lies between two
// elements of each. So an address that is stepped through by elements of several types has a name for each of them.
llvm::SmallVector<llvm::FreezeInst*, 4> name_by_element(llvm::Function& lane) {
  llvm::SmallVector<llvm::FreezeInst*, 4> names;
  llvm::DenseMap<llvm::Value*, llvm::SmallVector<std::pair<llvm::Type*, llvm::Value*>, 2>> known;
  for (llvm::Instruction& instruction : llvm::instructions(lane)) {
    auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
    if (!step || step->hasAllConstantIndices() || step->getType()->isVectorTy()) continue;
    llvm::Value* base = step->getPointerOperand();
    auto& own = known[base];
    auto* found = llvm::find_if(own, [&](const auto& one) { return one.first == step->getSourceElementType(); });
    if (found == own.end()) {
      llvm::Value* name = base;
      if (!own.empty()) {
        auto* definition = llvm::dyn_cast<llvm::Instruction>(base);
        const auto place = definition ? definition->getInsertionPointAfterDef()
                                      : std::optional(lane.getEntryBlock().getFirstInsertionPt());
        if (!place) continue;
        names.push_back(new llvm::FreezeInst(base, "", *place));
        name = names.back();
      }
      found = &own.emplace_back(step->getSourceElementType(), name);
    }
    step->setOperand(0, found->second);
  }
  return names;
}

// What an index is a constant away from, or a multiple of that.
const llvm::Value* origin_of(const llvm::Value* index) {
  while (const auto* step = llvm::dyn_cast<llvm::Instruction>(index)) {
    const bool is_by_constant = llvm::isa<llvm::BinaryOperator>(step) && llvm::isa<llvm::Constant>(step->getOperand(1));
    if (!is_by_constant && !llvm::isa<llvm::CastInst>(step)) break;
    index = step->getOperand(0);
  }
  return index;
}

// LoadStoreVectorizer compares each load with 64 others of the same address. So that of a table has a name of its own
// where no other load of the block is near it.
void name_lookups(llvm::Function& lane, llvm::SmallVectorImpl<llvm::FreezeInst*>& names) {
  using Place = std::pair<const llvm::Value*, const llvm::Value*>;
  for (llvm::BasicBlock& block : lane) {
    llvm::MapVector<Place, llvm::SmallVector<llvm::GetElementPtrInst*, 1>> lookups;
    for (llvm::Instruction& instruction : block) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (!load || !load->isSimple() || !load->getMetadata(llvm::LLVMContext::MD_invariant_load)) continue;
      auto* step = llvm::dyn_cast<llvm::GetElementPtrInst>(load->getPointerOperand());
      while (step && step->hasAllConstantIndices()) {
        step = llvm::dyn_cast<llvm::GetElementPtrInst>(step->getPointerOperand());
      }
      const auto* table = step ? llvm::dyn_cast<llvm::GlobalVariable>(llvm::getUnderlyingObject(step)) : nullptr;
      if (!table || !table->isConstant()) continue;
      lookups[{table, origin_of(step->getOperand(step->getNumOperands() - 1))}].push_back(step);
    }
    for (const auto& [place, steps] : lookups) {
      if (steps.size() != 1 || llvm::isa<llvm::Constant>(place.second)) continue;
      llvm::GetElementPtrInst* step = steps.front();
      names.push_back(new llvm::FreezeInst(step->getPointerOperand(), "", step->getIterator()));
      step->setOperand(0, names.back());
    }
  }
}

}  // namespace

// Loads of addresses stay alone: out of a joined one comes a number, of which nobody knows what memory it is in.
void join_accesses(llvm::Function& lane) {
  llvm::SmallVector<llvm::LoadInst*, 16> alone;
  for (llvm::Instruction& instruction : llvm::instructions(lane)) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (load && load->isSimple() && load->getType()->isPointerTy()) alone.push_back(load);
  }
  for (llvm::LoadInst* load : alone) load->setVolatile(true);
  auto names = name_by_element(lane);
  name_lookups(lane, names);
  LaneManagers managers;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LoadStoreVectorizerPass());
  passes.run(lane, managers.functions);
  for (llvm::FreezeInst* name : names) {
    name->replaceAllUsesWith(name->getOperand(0));
    name->eraseFromParent();
  }
  for (llvm::LoadInst* load : alone) load->setVolatile(false);
}

void simplify_control_flow(llvm::Function& lane) {
  LaneManagers managers;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LowerSwitchPass());
  // Which of a block's two ways goes into a loop FixIrreducible cannot tell: it takes the values that both bring.
  passes.addPass(llvm::BreakCriticalEdgesPass());
  passes.addPass(llvm::FixIrreduciblePass());
  passes.addPass(llvm::UnifyFunctionExitNodesPass());
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::BreakCriticalEdgesPass());
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  passes.run(lane, managers.functions);
  empty_latches(lane, managers.functions);
  add_disjoint_numbers(lane);
}

}  // namespace metalloid::engines::simd
