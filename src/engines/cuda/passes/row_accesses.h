// Accesses to a row of elements, one of each thread or turn, as few wide ones.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <cstdint>
#include <vector>

namespace metalloid::engines::cuda {

// Bytes of one element.
std::uint64_t bytes_of(const llvm::Instruction& access);
// What `first` must be aligned to for a row of so many; the wide accesses are noted as aligned
// (fork_by_alignment.h).
std::uint64_t row_alignment(const llvm::Instruction& access, unsigned count);

// The values of `count` neighbours, of which the access is one and `first` is where they begin.
std::vector<llvm::Value*> load_row(llvm::IRBuilderBase& builder, llvm::LoadInst& access, llvm::Value* first,
                                   unsigned count);
void store_row(llvm::IRBuilderBase& builder, llvm::StoreInst& access, llvm::Value* first,
               llvm::ArrayRef<llvm::Value*> values);

}  // namespace metalloid::engines::cuda
