// How numbers depend on the threadgroup.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Instructions.h>

#include <cstddef>

#include "engines/cpu_shared/kernel_abi.h"
#include "engines/simd/simdgroup/threadgroup_steps.h"

namespace metalloid::engines::simd {

// By what a number grows from one threadgroup to the next along x. It may wrap on its way: what is asked for then is of
// no use, and does no harm.
class GrowthByPosition {
 public:
  explicit GrowthByPosition(llvm::ScalarEvolution& evolution) : evolution_(evolution) {}

  // Null if that is not known.
  const llvm::SCEV* growth_of(const llvm::SCEV& number) {
    if (const auto known = known_.find(&number); known != known_.end()) return known->second;
    const llvm::SCEV* growth = derive(number);
    known_[&number] = growth;
    return growth;
  }

 private:
  const llvm::SCEV* derive(const llvm::SCEV& number) {
    llvm::Type* type = evolution_.getEffectiveSCEVType(number.getType());
    const llvm::SCEV* none = evolution_.getZero(type);
    if (const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(&number)) {
      if (is_position(*unknown->getValue())) return evolution_.getOne(type);
      return depends(*unknown->getValue(), deepest) ? nullptr : none;
    }
    llvm::SmallVector<const llvm::SCEV*, 4> growths;
    for (const llvm::SCEV* operand : number.operands()) {
      growths.push_back(growth_of(*operand));
      if (!growths.back()) return nullptr;
    }
    const auto grows = [](const llvm::SCEV* growth) { return !growth->isZero(); };
    const auto count = llvm::count_if(growths, grows);
    if (count == 0) return none;
    switch (number.getSCEVType()) {
      case llvm::scTruncate: return evolution_.getTruncateExpr(growths[0], type);
      case llvm::scZeroExtend: return evolution_.getZeroExtendExpr(growths[0], type);
      case llvm::scSignExtend: return evolution_.getSignExtendExpr(growths[0], type);
      case llvm::scAddExpr: return evolution_.getAddExpr(growths);
      case llvm::scAddRecExpr: return count == 1 && grows(growths[0]) ? growths[0] : nullptr;
      case llvm::scMulExpr: {
        if (count != 1) return nullptr;
        llvm::SmallVector<const llvm::SCEV*, 4> factors(number.operands());
        for (unsigned i = 0; i < factors.size(); ++i) {
          if (grows(growths[i])) factors[i] = growths[i];
        }
        return evolution_.getMulExpr(factors);
      }
      default: return nullptr;
    }
  }

  static bool is_position(const llvm::Value& value) {
    return is_of_state(value, offsetof(cpu::ThreadgroupState, threadgroup_position_in_grid));
  }

  // What is loaded from elsewhere does not, as far as is known.
  static bool depends(const llvm::Value& value, unsigned depth) {
    if (is_position(value)) return true;
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
    if (!instruction || llvm::isa<llvm::LoadInst>(instruction)) return false;
    if (depth == 0 || llvm::isa<llvm::PHINode>(instruction)) return true;
    return llvm::any_of(instruction->operands(), [&](const llvm::Use& use) { return depends(*use, depth - 1); });
  }

  static constexpr unsigned deepest = 12;  // operands below each other

  llvm::ScalarEvolution& evolution_;
  llvm::DenseMap<const llvm::SCEV*, const llvm::SCEV*> known_;
};

}  // namespace metalloid::engines::simd
