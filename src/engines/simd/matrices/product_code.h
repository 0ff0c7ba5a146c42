// The code of products of simdgroup matrices (matrix_products.h has their orders).
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <array>
#include <compare>
#include <cstdint>

namespace metalloid::engines::simd {

// Products of each of some left operands with each of some right ones.
struct ProductBlock {
  static constexpr unsigned most = 2;  // of both

  unsigned left = 1, right = 1;
  // From one row of an operand to the next, of those that the block has; 0: a left operand in tiles.
  std::array<std::uint64_t, most> left_row_bytes{}, row_bytes{};

  unsigned count() const { return left * right; }
  bool has_left_in_registers() const { return left == 1; }
  auto operator<=>(const ProductBlock&) const = default;
};

// The largest block whose sums a processor's registers hold.
ProductBlock largest_block(const llvm::TargetMachine& machine);

//   <64 x float>... (<16 x float> sums..., <16 x float> left..., ptr right...)
//   <64 x float>... (<16 x float> sums..., ptr left..., ptr right...)
//
// Products come with all of the first left operand in front, in tiles, four vectors each; the results are one vector,
// in the same order. One left operand comes in registers, in tiles; two lie in memory, since sums take the registers:
// in tiles, aligned to 64 bytes, or row by row, of which tiles are put together as they are wanted. Right operands lie
// in memory row by row.
//
// A step k of a product multiplies column k of a left operand by row k of a right one: of a tile of the left one,
// element k of each row goes to all four places of its quarter, and four elements of the row go to all quarters. The
// first is a permutation within quarters, the second comes out of memory as it is wanted. Permutations and half of the
// multiplications want the same part of the processor: so products share both where they can, and their sums are chains
// enough to keep it busy. What a caller goes on with are the registers that it gets.
llvm::Function& make_products(llvm::Module& module, const llvm::Function& user, const ProductBlock& block);

}  // namespace metalloid::engines::simd
