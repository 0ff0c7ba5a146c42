// split_copies
//
//   call void @llvm.memcpy(ptr %to, ptr %from, i64 20)
// ->
//   %a = load <4 x i32>, ptr %from
//   %b = load i32, ptr %from + 16
//   store <4 x i32> %a, ptr %to
//   store i32 %b, ptr %to + 16
//
// Loads and stores have shapes: lanes that copy side by side copy a row.
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <cstdint>
#include <utility>

#include "engines/simd/lane/prepare_lane.h"

namespace metalloid::engines::simd {
namespace {

constexpr std::uint64_t most_bytes = 128;

// The largest piece of a copy that has so many bytes left.
llvm::Type* piece_type(llvm::LLVMContext& context, std::uint64_t bytes) {
  llvm::Type* word = llvm::Type::getInt32Ty(context);
  if (bytes >= 16) return llvm::FixedVectorType::get(word, 4);
  if (bytes >= 8) return llvm::FixedVectorType::get(word, 2);
  if (bytes >= 4) return word;
  return bytes >= 2 ? llvm::Type::getInt16Ty(context) : llvm::Type::getInt8Ty(context);
}

void split(llvm::MemTransferInst& copy, std::uint64_t bytes) {
  llvm::IRBuilder<> builder(&copy);
  const auto part = [&](llvm::Value* begin, std::uint64_t offset) {
    return offset == 0 ? begin : builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), begin, offset);
  };
  const llvm::Align from = copy.getSourceAlign().valueOrOne(), to = copy.getDestAlign().valueOrOne();
  llvm::SmallVector<std::pair<std::uint64_t, llvm::Value*>, 12> pieces;
  for (std::uint64_t at = 0; at < bytes;) {
    llvm::Type* type = piece_type(copy.getContext(), bytes - at);
    pieces.emplace_back(
        at, builder.CreateAlignedLoad(type, part(copy.getRawSource(), at), llvm::commonAlignment(from, at)));
    at += copy.getDataLayout().getTypeStoreSize(type).getFixedValue();
  }
  for (const auto& [at, value] : pieces) {
    builder.CreateAlignedStore(value, part(copy.getRawDest(), at), llvm::commonAlignment(to, at));
  }
  copy.eraseFromParent();
}

}  // namespace

void split_copies(llvm::Function& lane) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(lane))) {
    auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction);
    if (!copy || copy->isVolatile()) continue;
    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(copy->getLength());
    if (length && length->getZExtValue() <= most_bytes) split(*copy, length->getZExtValue());
  }
}

}  // namespace metalloid::engines::simd
