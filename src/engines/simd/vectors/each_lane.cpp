#include "engines/simd/vectors/each_lane.h"

namespace metalloid::engines::simd {

llvm::Value* load_element(llvm::IRBuilder<>& builder, llvm::Type* type, llvm::Value* memory, llvm::Value* lane,
                          unsigned lanes) {
  if (!type->isIntegerTy(1)) return builder.CreateLoad(type, builder.CreateGEP(type, memory, lane));
  llvm::Value* bits = builder.CreateZExt(builder.CreateLoad(builder.getIntNTy(lanes), memory), builder.getInt32Ty());
  return builder.CreateTrunc(builder.CreateLShr(bits, lane), type);
}

void store_element(llvm::IRBuilder<>& builder, llvm::Value* value, llvm::Value* memory, llvm::Value* lane,
                   unsigned lanes) {
  if (!value->getType()->isIntegerTy(1)) {
    builder.CreateStore(value, builder.CreateGEP(value->getType(), memory, lane));
    return;
  }
  llvm::Value* bits = builder.CreateZExt(builder.CreateLoad(builder.getIntNTy(lanes), memory), builder.getInt32Ty());
  llvm::Value* others = builder.CreateAnd(bits, builder.CreateNot(builder.CreateShl(builder.getInt32(1), lane)));
  llvm::Value* own = builder.CreateShl(builder.CreateZExt(value, builder.getInt32Ty()), lane);
  builder.CreateStore(builder.CreateTrunc(builder.CreateOr(others, own), builder.getIntNTy(lanes)), memory);
}

}  // namespace metalloid::engines::simd
