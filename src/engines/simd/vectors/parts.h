// The scalars that a value of a lane consists of: elements of vectors, members of structures, elements of arrays. For
// lanes in step each of them is a vector.
#pragma once

#include <llvm/IR/DerivedTypes.h>

namespace metalloid::engines::simd {

unsigned parts_of(llvm::Type* type);
llvm::Type* part_type(llvm::Type* type, unsigned part);
// That of a scalar in all lanes.
llvm::FixedVectorType* wide_type(llvm::Type* scalar, unsigned lanes);

}  // namespace metalloid::engines::simd
