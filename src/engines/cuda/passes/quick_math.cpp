#include "engines/cuda/passes/quick_math.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <array>
#include <cstdint>

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

constexpr double log2_e = 0x1.715476p+0, log2_e_rest = 0x1.4ae0cp-26, ln_2 = 0x1.62e43p-1;

// Of one float.
class QuickMath {
 public:
  explicit QuickMath(llvm::IRBuilder<>& builder) : builder_(builder) {}

  // Bounds are where the result is infinite or 0 anyway: infinities would become NaN.
  Value* exp(Value* x) {
    x = builder_.CreateBinaryIntrinsic(intrinsic::minimum, x, number(89));
    x = builder_.CreateBinaryIntrinsic(intrinsic::maximum, x, number(-104));
    Value* power = builder_.CreateFMul(x, number(log2_e));
    Value* rest = fma(x, number(log2_e), builder_.CreateFNeg(power));
    rest = fma(x, number(log2_e_rest), rest);
    return builder_.CreateFMul(exp2(power), fma(rest, number(ln_2), number(1)));
  }

  Value* exp2(Value* x) { return builder_.CreateIntrinsic(intrinsic::nvvm_ex2_approx, {x->getType()}, {x}); }

  // (1 - t) / (1 + t) with t = e^(-2 |x|); of small numbers that would lose digits.
  Value* tanh(Value* x) {
    Value* magnitude = builder_.CreateUnaryIntrinsic(intrinsic::fabs, x);
    Value* t = exp2(builder_.CreateFMul(magnitude, number(-2 * log2_e)));
    Value* quotient = builder_.CreateFDiv(builder_.CreateFSub(number(1), t), builder_.CreateFAdd(number(1), t));
    llvm::cast<llvm::Instruction>(quotient)->setHasApproxFunc(true);
    // x + x^3 p(x^2), closer than 0.1 units in the last place.
    Value* square = builder_.CreateFMul(magnitude, magnitude);
    Value* sum = number(small_tanh.back());
    for (const double coefficient : llvm::drop_begin(llvm::reverse(small_tanh))) {
      sum = fma(sum, square, number(coefficient));
    }
    Value* small = fma(builder_.CreateFMul(square, magnitude), sum, magnitude);
    Value* is_small = builder_.CreateFCmpOLT(magnitude, number(0.4));
    return builder_.CreateBinaryIntrinsic(intrinsic::copysign, builder_.CreateSelect(is_small, small, quotient), x);
  }

 private:
  static constexpr std::array<double, 4> small_tanh = {-0x1.55553ep-2, 0x1.110616p-3, -0x1.b6cce4p-5, 0x1.333cd8p-6};

  Value* number(double value) { return llvm::ConstantFP::get(builder_.getFloatTy(), value); }
  Value* fma(Value* a, Value* b, Value* c) {
    return builder_.CreateIntrinsic(intrinsic::fma, {a->getType()}, {a, b, c});
  }

  llvm::IRBuilder<>& builder_;
};

bool is_one(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call) return false;
  const intrinsic::ID id = call->getIntrinsicID();
  if (id != intrinsic::exp && id != intrinsic::exp2 && id != intrinsic::tanh) return false;
  const llvm::Type* element = call->getType()->getScalarType();
  const auto* vector = llvm::dyn_cast<llvm::VectorType>(call->getType());
  return call->hasApproxFunc() && element->getScalarSizeInBits() <= 32 && (!vector || !vector->isScalableTy());
}

Value* compute(llvm::IRBuilder<>& builder, intrinsic::ID id, Value* x) {
  llvm::Type* type = x->getType();
  QuickMath math(builder);
  x = builder.CreateFPExt(x, builder.getFloatTy());
  Value* result = id == intrinsic::exp ? math.exp(x) : id == intrinsic::exp2 ? math.exp2(x) : math.tanh(x);
  return builder.CreateFPTrunc(result, type);
}

Value* compute_elements(llvm::IRBuilder<>& builder, intrinsic::ID id, Value* x) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (!vector) return compute(builder, id, x);
  Value* result = llvm::PoisonValue::get(x->getType());
  for (unsigned i = 0; i < vector->getNumElements(); ++i) {
    const std::uint64_t at = i;
    result = builder.CreateInsertElement(result, compute(builder, id, builder.CreateExtractElement(x, at)), at);
  }
  return result;
}

}  // namespace

void quick_math(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (!is_one(instruction)) continue;
      auto& call = llvm::cast<llvm::IntrinsicInst>(instruction);
      llvm::IRBuilder<> builder(&call);
      Value* result = compute_elements(builder, call.getIntrinsicID(), call.getArgOperand(0));
      call.replaceAllUsesWith(result);
      call.eraseFromParent();
    }
  }
}

}  // namespace metalloid::engines::cuda
