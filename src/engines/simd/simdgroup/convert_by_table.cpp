#include "engines/simd/simdgroup/convert_by_table.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/Sequence.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/MC/MCSubtargetInfo.h>

#include <array>
#include <utility>

#include "metalloid/reflection.h"

namespace metalloid::engines::simd {
namespace {

using llvm::Value;

constexpr unsigned table_size = 16;

// The number whose lowest bits are converted, and how many numbers these make. Null if it is not such a conversion.
std::pair<Value*, unsigned> converted_by(llvm::Instruction& instruction) {
  using namespace llvm::PatternMatch;
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType());
  if (!type || type->getNumElements() != simdgroup_width || !type->getElementType()->isFloatTy()) return {};
  if (!llvm::isa<llvm::UIToFPInst, llvm::SIToFPInst>(instruction)) return {};
  Value* number = nullptr;
  const llvm::APInt* mask = nullptr;
  if (!match(instruction.getOperand(0), m_OneUse(m_And(m_Value(number), m_APInt(mask))))) return {};
  if (!number->getType()->isIntOrIntVectorTy(32) || !mask->isMask() || mask->uge(table_size)) return {};
  return {number, static_cast<unsigned>(mask->getZExtValue()) + 1};
}

void convert(llvm::Instruction& conversion, Value& number, unsigned numbers) {
  llvm::IRBuilder<> builder(&conversion);
  std::array<float, table_size> table;
  for (unsigned i = 0; i < table_size; ++i) table[i] = static_cast<float>(i % numbers);
  Value* floats = llvm::ConstantDataVector::get(builder.getContext(), table);
  std::array<Value*, simdgroup_width / table_size> parts;
  for (unsigned i = 0; i < parts.size(); ++i) {
    const auto lanes =
        llvm::to_vector(llvm::seq<int>(static_cast<int>(i * table_size), static_cast<int>((i + 1) * table_size)));
    parts[i] = builder.CreateIntrinsic(floats->getType(), llvm::Intrinsic::x86_avx512_permvar_sf_512,
                                       {floats, builder.CreateShuffleVector(&number, lanes)});
  }
  const auto all = llvm::to_vector(llvm::seq<int>(0, simdgroup_width));
  conversion.replaceAllUsesWith(builder.CreateShuffleVector(parts[0], parts[1], all));
  auto* low = llvm::cast<llvm::Instruction>(conversion.getOperand(0));
  conversion.eraseFromParent();
  low->eraseFromParent();
}

}  // namespace

void convert_by_table(llvm::Module& module, const llvm::TargetMachine& machine) {
  if (!machine.getTargetTriple().isX86() || !machine.getMCSubtargetInfo()->checkFeatures("+avx512f")) return;
  for (llvm::Function& function : module) {
    llvm::SmallVector<llvm::Instruction*, 32> found;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (converted_by(instruction).first) found.push_back(&instruction);
    }
    for (llvm::Instruction* conversion : found) {
      const auto [number, numbers] = converted_by(*conversion);
      convert(*conversion, *number, numbers);
    }
  }
}

}  // namespace metalloid::engines::simd
