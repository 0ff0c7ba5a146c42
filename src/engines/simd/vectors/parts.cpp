#include "engines/simd/vectors/parts.h"

namespace metalloid::engines::simd {

unsigned parts_of(llvm::Type* type) {
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) return vector->getNumElements();
  unsigned parts = 0;
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    for (llvm::Type* member : structure->elements()) parts += parts_of(member);
    return parts;
  }
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    return static_cast<unsigned>(array->getNumElements()) * parts_of(array->getElementType());
  }
  return 1;
}

llvm::Type* part_type(llvm::Type* type, unsigned part) {
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) return vector->getElementType();
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    for (llvm::Type* member : structure->elements()) {
      if (part < parts_of(member)) return part_type(member, part);
      part -= parts_of(member);
    }
  }
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    return part_type(array->getElementType(), part % parts_of(array->getElementType()));
  }
  return type;
}

llvm::FixedVectorType* wide_type(llvm::Type* scalar, unsigned lanes) {
  return llvm::FixedVectorType::get(scalar, lanes);
}

}  // namespace metalloid::engines::simd
