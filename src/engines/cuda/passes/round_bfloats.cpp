#include "engines/cuda/passes/round_bfloats.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <cstdint>

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;
using namespace llvm::PatternMatch;

constexpr std::uint32_t infinity = 0x7f800000, quiet = 0x400000, half_a_place = 0x7fff;

bool is_magnitude_of(Value* value, Value* bits) {
  Value* number = nullptr;
  return match(value, m_And(m_Specific(bits), m_SpecificInt(0x7fffffff))) ||
         (match(value, m_BitCast(m_FAbs(m_Value(number)))) && match(bits, m_BitCast(m_Specific(number))));
}

// bits + 0x7fff + (bits >> 16 & 1), in any order.
bool is_rounded(Value* value, Value* bits) {
  const auto odd = m_And(m_LShr(m_Specific(bits), m_SpecificInt(16)), m_One());
  return match(value, m_c_Add(m_Add(m_Specific(bits), m_SpecificInt(half_a_place)), odd)) ||
         match(value, m_Add(m_c_Add(m_Specific(bits), odd), m_SpecificInt(half_a_place))) ||
         match(value, m_c_Add(m_Specific(bits), m_Add(odd, m_SpecificInt(half_a_place))));
}

// The float whose bits, rounded, are the upper half of a number; null for others.
Value* rounded_float(llvm::IRBuilder<>& builder, Value* value) {
  Value *magnitude = nullptr, *bits = nullptr, *rounded = nullptr;
  llvm::CmpPredicate predicate;
  if (!match(value, m_Select(m_ICmp(predicate, m_Value(magnitude), m_SpecificInt(infinity)),
                             m_c_Or(m_Value(bits), m_SpecificInt(quiet)), m_Value(rounded)))) {
    return nullptr;
  }
  if (predicate != llvm::CmpInst::ICMP_UGT || !is_magnitude_of(magnitude, bits) || !is_rounded(rounded, bits)) {
    return nullptr;
  }
  Value* number = nullptr;
  if (match(bits, m_BitCast(m_Value(number))) && number->getType()->isFloatTy()) return number;
  return builder.CreateBitCast(bits, builder.getFloatTy());
}

}  // namespace

void round_bfloats(llvm::Module& module) {
  for (llvm::Function& function : module) {
    llvm::SmallVector<llvm::WeakTrackingVH, 16> unused;
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      Value* value = nullptr;
      const bool is_low = match(&instruction, m_LShr(m_Value(value), m_SpecificInt(16)));
      if (!is_low && !match(&instruction, m_And(m_Value(value), m_SpecificInt(0xffff0000)))) continue;
      if (!instruction.getType()->isIntegerTy(32)) continue;
      llvm::IRBuilder<> builder(&instruction);
      Value* number = rounded_float(builder, value);
      if (!number) continue;
      Value* rounded = builder.CreateFPTrunc(number, builder.getBFloatTy());
      Value* bits = builder.CreateZExt(builder.CreateBitCast(rounded, builder.getInt16Ty()), builder.getInt32Ty());
      instruction.replaceAllUsesWith(is_low ? bits : builder.CreateShl(bits, 16, "", /*HasNUW=*/true));
      unused.emplace_back(&instruction);
    }
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(unused);
  }
}

}  // namespace metalloid::engines::cuda
