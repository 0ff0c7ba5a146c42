#include "engines/cuda/passes/loop_addresses.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Instructions.h>

#include <cstddef>

#include "ir/support/pass_managers.h"

namespace metalloid::engines::cuda {
namespace {

constexpr std::size_t many_rows = 6, many_instructions = 100;

std::size_t instructions_of(const llvm::Loop& loop) {
  std::size_t count = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) count += block->size();
  return count;
}

std::size_t rows_of(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  llvm::SmallVector<const llvm::SCEV*, 8> rows;
  for (llvm::BasicBlock* block : loop.blocks()) {
    for (llvm::Instruction& instruction : *block) {
      llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
      const auto* along = pointer ? llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(pointer)) : nullptr;
      if (!along || along->getLoop() != &loop) continue;
      const bool is_new = llvm::none_of(rows, [&](const llvm::SCEV* row) {
        return llvm::isa<llvm::SCEVConstant>(evolution.getMinusSCEV(along, row));
      });
      if (is_new) rows.push_back(along);
    }
  }
  return rows.size();
}

}  // namespace

bool goes_along_many_rows(llvm::Module& module) {
  ir::PassManagers managers;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    auto& evolution = managers.functions.getResult<llvm::ScalarEvolutionAnalysis>(function);
    for (const llvm::Loop* loop : managers.functions.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
      const bool is_long = loop->isInnermost() && instructions_of(*loop) >= many_instructions;
      if (is_long && rows_of(*loop, evolution) >= many_rows) return true;
    }
  }
  return false;
}

}  // namespace metalloid::engines::cuda
