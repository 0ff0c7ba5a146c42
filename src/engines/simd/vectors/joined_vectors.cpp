#include "engines/simd/vectors/joined_vectors.h"

#include <llvm/IR/DerivedTypes.h>

namespace metalloid::engines::simd {

llvm::Value* join(llvm::IRBuilder<>& builder, llvm::ArrayRef<llvm::Value*> vectors) {
  llvm::SmallVector<llvm::Value*, 16> pieces(vectors);
  while (pieces.size() > 1) {
    const unsigned length = llvm::cast<llvm::FixedVectorType>(pieces[0]->getType())->getNumElements();
    llvm::SmallVector<int, 64> both;
    for (unsigned i = 0; i < 2 * length; ++i) both.push_back(static_cast<int>(i));
    for (unsigned i = 0; 2 * i < pieces.size(); ++i) {
      pieces[i] = builder.CreateShuffleVector(pieces[2 * i], pieces[2 * i + 1], both);
    }
    pieces.resize(pieces.size() / 2);
  }
  return pieces[0];
}

llvm::Value* piece_of(llvm::IRBuilder<>& builder, llvm::Value* vector, unsigned number, unsigned length) {
  llvm::SmallVector<int, 64> places;
  for (unsigned i = 0; i < length; ++i) places.push_back(static_cast<int>(number * length + i));
  return builder.CreateShuffleVector(vector, places);
}

}  // namespace metalloid::engines::simd
