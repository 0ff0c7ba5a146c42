#include "engines/simd/math/lanes.h"

#include <llvm/ADT/APFloat.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/TargetParser/Triple.h>

#include <limits>

namespace metalloid::engines::simd {
namespace {

Floats unary(Floats a, llvm::Intrinsic::ID id) {
  return {a.emitter(), a.builder().CreateUnaryIntrinsic(id, a.value())};
}

}  // namespace

MathHardware math_hardware(const llvm::TargetMachine& machine) {
  if (!machine.getTargetTriple().isX86())
    return {.fused_multiply_add = true, .scaling = false, .rounding = true, .half = true};
  const llvm::MCSubtargetInfo& processor = *machine.getMCSubtargetInfo();
  return {.fused_multiply_add = processor.checkFeatures("+fma"),
          .scaling = processor.checkFeatures("+avx512f"),
          .rounding = processor.checkFeatures("+sse4.1"),
          .half = processor.checkFeatures("+avx512fp16")};
}

llvm::Type* Lanes::with_element(llvm::Type* element) const {
  return llvm::VectorType::get(element, llvm::cast<llvm::VectorType>(type())->getElementCount());
}

Integers Integers::constant(std::int64_t number) const {
  return {emitter(), llvm::ConstantInt::get(type(), static_cast<std::uint64_t>(number), true, true)};
}

Floats Floats::constant(double number) const { return {emitter(), llvm::ConstantFP::get(type(), number)}; }

llvm::Value* any(Mask mask) { return mask.builder().CreateFreeze(mask.builder().CreateOrReduce(mask.value())); }

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

Integers logical_shift_right(Integers a, std::int64_t by) {
  return {a.emitter(), a.builder().CreateLShr(a.value(), a.constant(by).value())};
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

}  // namespace metalloid::engines::simd
