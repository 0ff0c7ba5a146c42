#include "engines/cuda/passes/expand_copies.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/bit.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engines/cuda/passes/fork_by_alignment.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;

constexpr std::uint64_t longest_copy = 128;

// A short copy, as of a vector that is a class of the library: what is left to LLVM goes byte by byte.
void expand(llvm::MemCpyInst& copy) {
  const auto* length = llvm::dyn_cast<llvm::ConstantInt>(copy.getLength());
  if (!length || length->getZExtValue() > longest_copy || copy.isVolatile()) return;
  const auto is_own = [](const Value* place) { return llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(place)); };
  if (is_own(copy.getRawDest()) || is_own(copy.getRawSource())) return;  // which goes, with what it does not hold
  const std::uint64_t bytes = length->getZExtValue();
  const llvm::Align alignment =
      std::min({copy.getDestAlign().valueOrOne(), copy.getSourceAlign().valueOrOne(), widest_access});
  llvm::IRBuilder<> builder(&copy);
  const auto place = [&](Value* base, std::uint64_t offset) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset);
  };
  llvm::SmallVector<std::pair<std::uint64_t, llvm::LoadInst*>, 8> pieces;
  for (std::uint64_t at = 0; at < bytes;) {
    const std::uint64_t size = std::min(llvm::bit_floor(bytes - at), alignment.value());
    llvm::Type* type = builder.getIntNTy(static_cast<unsigned>(8 * std::min<std::uint64_t>(size, 8)));
    if (size > 8) type = llvm::FixedVectorType::get(builder.getInt32Ty(), static_cast<unsigned>(size / 4));
    pieces.emplace_back(at, builder.CreateAlignedLoad(type, place(copy.getRawSource(), at), llvm::Align(size)));
    at += size;
  }
  for (const auto& [at, piece] : pieces) {
    builder.CreateAlignedStore(piece, place(copy.getRawDest(), at), piece->getAlign());
  }
  copy.eraseFromParent();
}

}  // namespace

void expand_copies(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(&instruction)) expand(*copy);
  }
}

}  // namespace metalloid::engines::cuda
