#include "engines/cuda/passes/unroll_loops.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <cstddef>

#include "ir/support/pass_managers.h"

namespace metalloid::engines::cuda {
namespace {

constexpr unsigned turns_at_once = 8, most_instructions = 64;
// Of a longer loop that reads memory, and of its turns that are done at once.
constexpr unsigned most_long_turns = 4, most_reading = 256, most_of_turns = 640;
// Of a loop that is so long that one turn at a time was left, and its reads: more are in each other's way already.
constexpr std::ptrdiff_t most_reads = 16;
// Of a loop that is unrolled as a whole.
constexpr unsigned most_turns = 16;
constexpr unsigned most_unrolled = 2048;  // instructions, of a loop that goes along an array
constexpr const char* count_name = "llvm.loop.unroll.count";

bool has_wish(const llvm::Loop& loop) {
  for (const char* name :
       {count_name, "llvm.loop.unroll.disable", "llvm.loop.unroll.enable", "llvm.loop.unroll.full"}) {
    if (llvm::findOptionMDForLoop(&loop, name)) return true;
  }
  return false;
}

// What it has when it and loops in it are unrolled as a whole; too much if one of them has no known number of turns.
unsigned unrolled_size(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  unsigned turn = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) turn += static_cast<unsigned>(block->size());
  for (const llvm::Loop* inner : loop) {
    const unsigned of_inner = unrolled_size(*inner, evolution);
    if (of_inner > most_unrolled) return of_inner;
    turn += of_inner;
  }
  const unsigned turns = evolution.getSmallConstantTripCount(&loop);
  return turns == 0 || turns > most_turns + 1 ? most_unrolled + 1 : turn * turns;
}

// Whether it comes to other elements of a variable in each turn.
bool goes_along_array(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  for (llvm::BasicBlock* block : loop.blocks()) {
    for (llvm::Instruction& instruction : *block) {
      auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
      if (!element || !llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(element))) continue;
      if (!evolution.isLoopInvariant(evolution.getSCEV(element), &loop)) return true;
    }
  }
  return false;
}

// Of memory that nobody writes, so that those of several turns may be on their way.
std::ptrdiff_t reads_of(const llvm::Loop& loop) {
  std::ptrdiff_t reads = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    reads += llvm::count_if(*block, [](const llvm::Instruction& instruction) {
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      return load && load->hasMetadata(llvm::LLVMContext::MD_invariant_load);
    });
  }
  return reads;
}

unsigned turns_of_long(const llvm::Loop& loop) {
  unsigned turns = most_long_turns;
  while (turns > 1 && !is_short(loop, most_of_turns / turns)) turns /= 2;
  return turns;
}

void unroll(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    const bool counts = !llvm::isa<llvm::SCEVCouldNotCompute>(evolution.getBackedgeTakenCount(loop));
    if (!counts || has_wish(*loop)) continue;
    const unsigned turns = evolution.getSmallConstantTripCount(loop);
    const bool is_known = turns != 0 && turns <= most_turns + 1;  // with that in which it is left
    if (!is_short(*loop, most_instructions)) {
      if (is_short(*loop, most_reading) && reads_of(*loop) != 0)
        llvm::addStringMetadataToLoop(loop, count_name, is_known ? turns : turns_of_long(*loop));
      continue;
    }
    llvm::addStringMetadataToLoop(loop, count_name, is_known ? turns : turns_at_once);
  }
}

}  // namespace

bool is_short(const llvm::Loop& loop, unsigned most_instructions) {
  unsigned instructions = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    for (const llvm::Instruction& instruction : *block) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call && (call->isConvergent() || !call->getCalledFunction() || !call->getCalledFunction()->isIntrinsic())) {
        return false;
      }
      if (instruction.isAtomic() || ++instructions > most_instructions) return false;
    }
  }
  return loop.isInnermost() && loop.getExitingBlock() != nullptr;
}

void unroll_arrays(llvm::Function& function) {
  ir::PassManagers managers;
  auto& loops = managers.functions.getResult<llvm::LoopAnalysis>(function);
  auto& evolution = managers.functions.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (has_wish(*loop) || !goes_along_array(*loop, evolution)) continue;
    if (unrolled_size(*loop, evolution) <= most_unrolled)
      llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.full", 1);
  }
}

void unroll_loops(llvm::Module& module) {
  ir::PassManagers managers;
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) unroll(function, managers.functions);
  }
}

void unroll_reading_loops(llvm::Module& module, llvm::TargetMachine& machine) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    ir::PassManagers managers(&machine, llvm::PipelineTuningOptions());
    auto& loops = managers.functions.getResult<llvm::LoopAnalysis>(function);
    auto& evolution = managers.functions.getResult<llvm::ScalarEvolutionAnalysis>(function);
    bool unrolls = false;
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
      const bool counts = !llvm::isa<llvm::SCEVCouldNotCompute>(evolution.getBackedgeTakenCount(loop));
      if (!counts || has_wish(*loop) || is_short(*loop, most_reading) || !is_short(*loop, most_of_turns)) continue;
      const std::ptrdiff_t reads = reads_of(*loop);
      if (reads == 0 || reads > most_reads) continue;
      llvm::addStringMetadataToLoop(loop, count_name, 2);
      unrolls = true;
    }
    if (!unrolls) continue;
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::LoopUnrollPass());
    passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
    passes.addPass(llvm::InstCombinePass());
    passes.run(function, managers.functions);
  }
}

}  // namespace metalloid::engines::cuda
