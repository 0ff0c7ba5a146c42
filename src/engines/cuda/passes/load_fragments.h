// load_fragments
//
//   %a = metalloid_fragment(elements, row, ...)            ldmatrix.x4 of four matrices in threadgroup memory
//   %b, %c, %d likewise                              ->
//   products of these
//
// Where rows are known to be aligned as the GPU wants them (16 bytes), and all lanes come to the products of that
// block. What is a right operand is read by columns. All other fragments are the elements that each lane reads.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::engines::cuda {

void load_fragments(llvm::Module& module);

}  // namespace metalloid::engines::cuda
