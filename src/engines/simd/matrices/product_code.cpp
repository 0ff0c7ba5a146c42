#include "engines/simd/matrices/product_code.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/MC/MCSubtargetInfo.h>

#include "engines/simd/vectors/joined_vectors.h"

namespace metalloid::engines::simd {
namespace {

using llvm::Value;

constexpr unsigned size = 8, tile = 16, tiles = 4, quarter = 4;

llvm::Function& declare(llvm::Module& module, const llvm::Function& user, const ProductBlock& block) {
  llvm::IRBuilder<> builder(module.getContext());
  auto* vector = llvm::FixedVectorType::get(builder.getFloatTy(), tile);
  llvm::SmallVector<llvm::Type*, 20> parameters(block.count() * tiles, vector);
  if (block.has_left_in_registers()) parameters.append(tiles, vector);
  parameters.append((block.has_left_in_registers() ? 0 : block.left) + block.right, builder.getPtrTy());
  auto* result = llvm::FixedVectorType::get(builder.getFloatTy(), block.count() * tiles * tile);
  auto* made =
      llvm::Function::Create(llvm::FunctionType::get(result, parameters, false), llvm::GlobalValue::InternalLinkage,
                             "metalloid.products." + llvm::Twine(block.left) + "x" + llvm::Twine(block.right), module);
  made->setCallingConv(module.getTargetTriple().isX86() ? llvm::CallingConv::X86_RegCall : llvm::CallingConv::C);
  for (const llvm::Attribute& attribute : user.getAttributes().getFnAttrs()) {
    if (attribute.isStringAttribute()) made->addFnAttr(attribute);
  }
  for (const auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn}) {
    made->addFnAttr(attribute);
  }
  made->setOnlyReadsMemory();
  made->setOnlyAccessesArgMemory();
  return *made;
}

}  // namespace

// LLVM prefers shorter registers on some processors that have those of 512 bits.
ProductBlock largest_block(const llvm::TargetMachine& machine) {
  const bool is_long = machine.getTargetTriple().isX86() && machine.getMCSubtargetInfo()->checkFeatures("+avx512f");
  return is_long ? ProductBlock{2, 2} : ProductBlock{1, 1};
}

llvm::Function& make_products(llvm::Module& module, const llvm::Function& user, const ProductBlock& block) {
  llvm::Function& made = declare(module, user, block);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "entry", &made));
  auto* vector = llvm::FixedVectorType::get(builder.getFloatTy(), tile);
  llvm::SmallVector<Value*, 16> sums;
  for (unsigned i = 0; i < block.count() * tiles; ++i) sums.push_back(made.getArg(i));
  const unsigned left = block.count() * tiles,
                 right = static_cast<unsigned>(made.arg_size()) - block.right;  // the first
  const auto load = [&](llvm::Type* type, Value* from, std::uint64_t bytes, unsigned alignment) -> Value* {
    Value* place = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), from, bytes);
    return builder.CreateAlignedLoad(type, place, llvm::Align(alignment));
  };
  const auto four_of_row = [&](unsigned number, unsigned k, unsigned half) {
    Value* four = load(llvm::FixedVectorType::get(builder.getFloatTy(), quarter), made.getArg(right + number),
                       k * block.row_bytes[number] + half * quarter * sizeof(float), alignof(float));
    llvm::SmallVector<int, tile> places;
    for (unsigned i = 0; i < tile; ++i) places.push_back(static_cast<int>(i % quarter));
    return builder.CreateShuffleVector(four, places);
  };
  const auto tile_of_left = [&](unsigned number, unsigned place) -> Value* {
    if (block.has_left_in_registers()) return made.getArg(left + place);
    Value* operand = made.getArg(left + number);
    const std::uint64_t row_bytes = block.left_row_bytes[number];
    if (row_bytes == 0) return load(vector, operand, place * tile * sizeof(float), tile * sizeof(float));
    llvm::SmallVector<Value*, quarter> rows;
    for (unsigned i = 0; i < quarter; ++i) {
      const std::uint64_t row = place / 2 * quarter + i, column = place % 2 * quarter;
      rows.push_back(load(llvm::FixedVectorType::get(builder.getFloatTy(), quarter), operand,
                          row * row_bytes + column * sizeof(float), alignof(float)));
    }
    return join(builder, rows);
  };
  for (unsigned k = 0; k < size; ++k) {
    llvm::SmallVector<std::array<Value*, 2>, ProductBlock::most> rows;  // left and right half
    for (unsigned i = 0; i < block.right; ++i) rows.push_back({four_of_row(i, k, 0), four_of_row(i, k, 1)});
    for (unsigned i = 0; i < block.left * 2; ++i) {  // upper and lower half of each
      llvm::SmallVector<int, tile> places;
      for (unsigned at = 0; at < tile; ++at) places.push_back(static_cast<int>(at / quarter * quarter + k % quarter));
      Value* column = builder.CreateShuffleVector(tile_of_left(i / 2, i % 2 * 2 + k / quarter), places);
      for (unsigned j = 0; j < block.right * 2; ++j) {
        Value*& sum = sums[(i / 2 * block.right + j / 2) * tiles + i % 2 * 2 + j % 2];
        sum = builder.CreateIntrinsic(llvm::Intrinsic::fma, {vector}, {column, rows[j / 2][j % 2], sum});
      }
    }
  }
  builder.CreateRet(join(builder, sums));
  return made;
}

}  // namespace metalloid::engines::simd
