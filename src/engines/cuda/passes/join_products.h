// join_products
//
//   c1 = product(a1, b, c)                      mma.m16n8k16 of a1, a3, a2, a4, with the rows of c under those of d:
//   c2 = product(a2, b', c1)               ->     the products of c and d have the same right operands,
//   d1 = product(a3, b, d)                        and each adds two of them up
//   d2 = product(a4, b', d1)
//
// Tensor cores multiply 16x16 by 16x8 elements. What finds no partner leaves a half or three quarters of that empty.
// They want right operands by columns: metalloid_columns (lanes/fragments.h) says that one is to be turned, once for
// all products of the block.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::engines::cuda {

void join_products(llvm::Module& module);

}  // namespace metalloid::engines::cuda
