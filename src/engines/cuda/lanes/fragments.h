// Matrices of 8x8 that lanes fetch from threadgroup memory. Each lane reads its two elements; where tensor cores
// multiply them, that is kept in mind until load_fragments may read whole matrices at once:
//
//   <2 x half> metalloid_fragment.f16(<2 x half> elements, ptr addrspace(3) row, i1 transposed)     elements
//
// `row`: where the row (of a transposed one: the column) begins that is the lane's number modulo 8, of the hardware.
//
//   <2 x float> metalloid_float_fragment.f32(<2 x float> elements, ptr addrspace(3) first, i64 stride, i1 transposed)
//
// `first`: where the matrix begins. multiply_floats may read what other lanes have from there.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>

#include <optional>

#include "engines/cuda/lanes/exchange.h"
#include "ir/operations.h"

namespace metalloid::engines::cuda {

// i32: where a lane's two elements lie, the first of which is this.
struct MatrixPlace {
  llvm::Value *row, *column;
};
MatrixPlace place_in_matrix(llvm::IRBuilderBase& builder, llvm::Value* lane);

// Whether the engine carries out this whole operation itself.
bool is_fragment_load(const ir::Operation& operation);
llvm::Value* load_fragment(const Lanes& lanes, llvm::Type& type, llvm::ArrayRef<llvm::Value*> operands);

struct Fragment {
  llvm::CallInst* call;
  llvm::Value* elements() const { return call->getArgOperand(0); }
  llvm::Value* row() const { return call->getArgOperand(1); }
  bool is_transposed() const { return llvm::cast<llvm::ConstantInt>(call->getArgOperand(2))->isOne(); }
};
std::optional<Fragment> as_fragment(llvm::Value& value);

// A matrix of floats; element (i, j) is at first[i * stride + j], of a transposed one at first[j * stride + i].
struct FloatFragment {
  llvm::CallInst* call;
  llvm::Value* elements() const { return call->getArgOperand(0); }
  llvm::Value* first() const { return call->getArgOperand(1); }
  llvm::Value* stride() const { return call->getArgOperand(2); }
  bool is_transposed() const { return llvm::cast<llvm::ConstantInt>(call->getArgOperand(3))->isOne(); }
};
std::optional<FloatFragment> as_float_fragment(llvm::Value& value);

// The first and the last of the loads of a block that made a matrix' elements; none if something else did.
struct ElementLoads {
  llvm::Instruction *first = nullptr, *last = nullptr;
};
std::optional<ElementLoads> loads_of(llvm::Value& elements, const llvm::BasicBlock& block);

// The matrix by columns, as tensor cores want right operands: metalloid_columns.f16(elements), of all lanes.
llvm::Value* mark_by_columns(llvm::IRBuilderBase& builder, llvm::Value* elements);
// The elements of such a call, or null.
llvm::Value* as_by_columns(llvm::Value& value);

}  // namespace metalloid::engines::cuda
