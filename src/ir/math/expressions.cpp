#include "ir/math/expressions.h"

#include <llvm/ADT/APFloat.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Intrinsics.h>

#include <limits>

namespace metalloid::ir::math {
namespace {

Floats unary(Floats a, llvm::Intrinsic::ID id) {
  return {a.emitter(), a.builder().CreateUnaryIntrinsic(id, a.value())};
}

}  // namespace

llvm::Type* Expression::with_element(llvm::Type* element) const {
  const auto* vector = llvm::dyn_cast<llvm::VectorType>(type());
  return vector ? llvm::VectorType::get(element, vector->getElementCount()) : element;
}

Integers Integers::constant(std::int64_t number) const {
  return {emitter(), llvm::ConstantInt::get(type(), static_cast<std::uint64_t>(number), true, true)};
}

Floats Floats::constant(double number) const { return {emitter(), llvm::ConstantFP::get(type(), number)}; }

llvm::Value* any(Mask mask) {
  llvm::IRBuilder<>& builder = mask.builder();
  llvm::Value* some = mask.type()->isVectorTy() ? builder.CreateOrReduce(mask.value()) : mask.value();
  return builder.CreateFreeze(some);
}

Integers bits(Floats a) {
  llvm::Type* integer = a.builder().getIntNTy(a.type()->getScalarSizeInBits());
  return {a.emitter(), a.builder().CreateBitCast(a.value(), a.with_element(integer))};
}

Floats from_bits(Integers a) {
  llvm::Type* element = a.type()->getScalarSizeInBits() == 64 ? a.builder().getDoubleTy() : a.builder().getFloatTy();
  return {a.emitter(), a.builder().CreateBitCast(a.value(), a.with_element(element))};
}

Floats to_double(Floats a) {
  return {a.emitter(), a.builder().CreateFPExt(a.value(), a.with_element(a.builder().getDoubleTy()))};
}

Floats to_double(Integers a) {
  return {a.emitter(), a.builder().CreateSIToFP(a.value(), a.with_element(a.builder().getDoubleTy()))};
}

Floats to_float(Floats a) {
  return {a.emitter(), a.builder().CreateFPTrunc(a.value(), a.with_element(a.builder().getFloatTy()))};
}

Floats to_float(Integers a) {
  return {a.emitter(), a.builder().CreateSIToFP(a.value(), a.with_element(a.builder().getFloatTy()))};
}

Integers to_int32(Floats a) {
  return {a.emitter(), a.builder().CreateFPToSI(a.value(), a.with_element(a.builder().getInt32Ty()))};
}

Integers extend(Integers a) {
  return {a.emitter(), a.builder().CreateZExt(a.value(), a.with_element(a.builder().getInt64Ty()))};
}

Integers truncate(Integers a) {
  return {a.emitter(), a.builder().CreateTrunc(a.value(), a.with_element(a.builder().getInt32Ty()))};
}

Mask below_unsigned(Integers a, std::int64_t limit) {
  return {a.emitter(), a.builder().CreateICmpULT(a.value(), a.constant(limit).value())};
}

Integers logical_shift_right(Integers a, Integers by) {
  return {a.emitter(), a.builder().CreateLShr(a.value(), by.value())};
}

Integers unsigned_remainder(Integers a, Integers b) {
  return {a.emitter(), a.builder().CreateURem(a.value(), b.value())};
}

Floats multiply_add(Floats a, Floats b, Floats c) {
  if (!a.emitter().hardware.fused_multiply_add) return a * b + c;
  llvm::Value* operands[] = {a.value(), b.value(), c.value()};
  return {a.emitter(), a.builder().CreateIntrinsic(llvm::Intrinsic::fma, {a.type()}, operands)};
}

Floats absolute(Floats a) { return unary(a, llvm::Intrinsic::fabs); }

Floats square_root(Floats a) { return unary(a, llvm::Intrinsic::sqrt); }

Floats copy_sign(Floats magnitude, Floats sign) {
  return {magnitude.emitter(),
          magnitude.builder().CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude.value(), sign.value())};
}

Floats at_most(Floats a, double limit) { return select(a > limit, limit, a); }

Floats at_least(Floats a, double limit) { return select(a < limit, limit, a); }

Mask has_sign(Floats a) { return bits(a) < 0; }

Mask is_nan(Floats a) { return a != a; }

Floats round_to_even(Floats a) {
  if (a.emitter().hardware.rounding) return unary(a, llvm::Intrinsic::rint);
  // Above this a float has no fraction, and below it the sum has none.
  const double limit = a.type()->getScalarSizeInBits() == 64 ? 0x1p52 : 0x1p23;
  const Floats magnitude = absolute(a);
  return select(magnitude < limit, copy_sign(magnitude + limit - limit, a), a);
}

}  // namespace metalloid::ir::math
