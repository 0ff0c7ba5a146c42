// Products of 8x8 matrices that all lanes of a warp come to. Until loops are unrolled and variables are gone they are
// calls,
//
//   <2 x float> metalloid_product.f16(<2 x half> a, <2 x half> b, <2 x float> c)
//
// which join_products makes instructions of: of tensor cores, or of floats the exact chain.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <optional>

#include "engines/cuda/lanes/lane_order.h"
#include "ir/operations.h"

namespace metalloid::engines::cuda {

// Whether tensor cores may carry it out: both operands have 16 bits, and sums may be taken in any order.
bool is_for_tensor_cores(const ir::MatrixOperation& operation);
bool is_of_floats(const ir::MatrixOperation& operation);
// What the kernel's lanes are best in.
LaneOrder order_for(const llvm::Module& module);
// Whether the kernel, in the same form, multiplies matrices or tiles of any kind.
bool multiplies_matrices(const llvm::Module& module);

llvm::Value* create_product(llvm::IRBuilderBase& builder, ir::MatrixElement element, llvm::Value* a, llvm::Value* b,
                            llvm::Value* c);
// The element type of such a call.
std::optional<ir::MatrixElement> as_product(const llvm::Instruction& instruction);

}  // namespace metalloid::engines::cuda
