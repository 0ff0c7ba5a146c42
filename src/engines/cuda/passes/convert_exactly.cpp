#include "engines/cuda/passes/convert_exactly.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include <cstdint>

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;

// The float whose last bit counts one, in bits, and its exponent.
constexpr std::uint32_t bits_of_ones = 0x4b000000;
constexpr unsigned mantissa_bits = 23;

// The integer that a float is made of, if it has 32 bits at most and no sign.
Value* integer_of(llvm::Instruction& conversion) {
  const bool is_signed = conversion.getOpcode() == llvm::Instruction::SIToFP;
  if ((!is_signed && conversion.getOpcode() != llvm::Instruction::UIToFP) || !conversion.getType()->isFloatTy()) {
    return nullptr;
  }
  Value* integer = conversion.getOperand(0);
  return integer->getType()->isIntegerTy() && integer->getType()->getIntegerBitWidth() <= 32 ? integer : nullptr;
}

void convert(llvm::Instruction& conversion) {
  using namespace llvm::PatternMatch;
  Value* integer = integer_of(conversion);
  if (!integer) return;
  Value* whole = nullptr;
  match(integer, m_ZExt(m_Value(integer)));
  const llvm::APInt *mask = nullptr, *shift = nullptr;
  if (!match(integer, m_And(m_Value(whole), m_APInt(mask))) || mask->isNegative()) return;
  unsigned down = 0;
  Value* shifted = nullptr;
  if (match(whole, m_LShr(m_Value(shifted), m_APInt(shift))) &&
      mask->getActiveBits() + shift->getZExtValue() <= mantissa_bits) {
    down = static_cast<unsigned>(shift->getZExtValue());
    whole = shifted;
  }
  if (mask->getActiveBits() + down > mantissa_bits) return;
  llvm::IRBuilder<> builder(&conversion);
  const auto kept = static_cast<std::uint32_t>(mask->getZExtValue() << down);
  Value* bits = builder.CreateAnd(builder.CreateZExtOrTrunc(whole, builder.getInt32Ty()), builder.getInt32(kept));
  bits = builder.CreateOr(bits, builder.getInt32(bits_of_ones));
  Value* number = builder.CreateBitCast(bits, builder.getFloatTy());
  const auto constant = [&](double value) { return llvm::ConstantFP::get(builder.getFloatTy(), value); };
  const double scale = 1.0 / (1U << down), less = -static_cast<double>(1U << (mantissa_bits - down));
  number = down == 0 ? builder.CreateFAdd(number, constant(less))
                     : builder.CreateIntrinsic(llvm::Intrinsic::fma, {builder.getFloatTy()},
                                               {number, constant(scale), constant(less)});
  conversion.replaceAllUsesWith(number);
  conversion.eraseFromParent();
}

void join_masks(llvm::Instruction& either) {
  using namespace llvm::PatternMatch;
  Value* whole = nullptr;
  const llvm::APInt *mask = nullptr, *other = nullptr;
  if (!either.getType()->isIntegerTy(32) ||
      !match(&either, m_Or(m_OneUse(m_And(m_Value(whole), m_APInt(mask))), m_APInt(other)))) {
    return;
  }
  llvm::IRBuilder<> builder(&either);
  llvm::Type* word = builder.getInt32Ty();
  auto* join = llvm::InlineAsm::get(llvm::FunctionType::get(word, {word, word, word}, /*isVarArg=*/false),
                                    "lop3.b32 $0, $1, $2, $3, 0xea;", "=r,r,n,n", /*hasSideEffects=*/false);
  llvm::CallInst* joined =
      builder.CreateCall(join, {whole, llvm::ConstantInt::get(word, *mask), llvm::ConstantInt::get(word, *other)});
  // Accesses are joined across it.
  joined->setDoesNotThrow();
  joined->setDoesNotAccessMemory();
  joined->addFnAttr(llvm::Attribute::WillReturn);
  either.replaceAllUsesWith(joined);
  either.eraseFromParent();
}

}  // namespace

void convert_exactly(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      convert(instruction);
    }
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      join_masks(instruction);
    }
  }
}

}  // namespace metalloid::engines::cuda
