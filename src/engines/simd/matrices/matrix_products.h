// Products of simdgroup matrices. The two vectors of 32 that a matrix is (ir/operations.def) are one of its 64 elements
// here, in an order that products want:
//
//   tiles   of 4 x 4 elements, rows of a tile side by side: 0, 0 then 0, 4 then 4, 0 then 4, 4
//   rows    one behind the other
//
// A tile is a register of 512 bits, and what a step of the product needs of it is the same place of each quarter.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <cstdint>
#include <string_view>

namespace metalloid::engines::simd {

enum class MatrixOrder : std::uint8_t { tiles, rows };

struct MatrixPlace {
  unsigned row, column;
};

// Of an element in an order.
constexpr MatrixPlace place_in(MatrixOrder order, unsigned index) {
  if (order == MatrixOrder::rows) return {index / 8, index % 8};
  return {index / 32 * 4 + index / 4 % 4, index / 16 % 2 * 4 + index % 4};
}

// <64 x float> (<64 x float> c, <64 x float> a, <64 x float> b): a * b + c. c, a and the result in tiles, b in rows.
inline constexpr std::string_view product_name = "metalloid_matrix_product";

// In order of the lanes' elements, even and odd columns, and back.
llvm::Value* put_in_order(llvm::IRBuilder<>& builder, llvm::ArrayRef<llvm::Value*> matrix, MatrixOrder order);
llvm::SmallVector<llvm::Value*, 2> take_from_order(llvm::IRBuilder<>& builder, llvm::Value* matrix, MatrixOrder order);

// Matrices keep the order that products want where they go from one product to the next, also around loops, and where
// memory has it or wants it:
//
//   %even = shufflevector <64 x float> %sum, poison, <...>      ; take_from_order
//   %odd = shufflevector <64 x float> %sum, poison, <...>
//   %again = shufflevector <32 x float> %even, %odd, <...>      ; put_in_order
// ->
//   %again = %sum
void keep_matrix_orders(llvm::Module& module);

// Products become calls of one function of the module: code for each of them would be large, and LLVM would compute all
// that products need before the first of them.
void lower_products(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace metalloid::engines::simd
