#include "engines/cuda/passes/quick_math.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/IR/ValueHandle.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

// Of an angle; 2 pi in parts.
constexpr double small_angle = 0x1p-7;  // is its sine, where the instruction's loses digits
constexpr double large_angle = 0x1p17, turn_inverse = 0x1.45f306p-3;
constexpr double rounding = 0x1.8p23;  // what is added to smaller numbers makes them whole ones
constexpr std::array<double, 3> turn_parts = {0x1.921fb4p+2, 0x1.4442dp-22, 0x1.846988p-46};
constexpr double log2_e = 0x1.715476p+0, log2_e_rest = 0x1.4ae0cp-26, ln_2 = 0x1.62e43p-1, log10_2 = 0x1.344136p-2;
constexpr double unit_above_1 = 0x1p-23;  // in the last place
// Calls that one branch is for.
constexpr std::size_t most_together = 16;

// Results that are others in rare cases, which one branch is for: each branch costs, and what comes behind it waits for
// what is in front of it.
class RareCases {
 public:
  // Stands for what branch() makes.
  Value* add(llvm::IRBuilder<>& builder, Value* usual, Value* is_rare, std::function<Value*()> other) {
    auto* result = llvm::cast<llvm::Instruction>(builder.CreateFreeze(usual));
    cases_.push_back({result, usual, is_rare, std::move(other)});
    return result;
  }

  // What is appended behind it comes behind the branch.
  void branch(llvm::IRBuilder<>& builder) {
    if (cases_.empty()) return;
    Value* any = cases_.front().is_rare;
    for (const Case& each : llvm::drop_begin(cases_)) any = builder.CreateOr(any, each.is_rare);
    llvm::BasicBlock* before = builder.GetInsertBlock();
    llvm::Instruction* next = &*builder.GetInsertPoint();
    llvm::MDNode* unlikely = llvm::MDBuilder(builder.getContext()).createUnlikelyBranchWeights();
    llvm::Instruction* rare =
        llvm::SplitBlockAndInsertIfThen(any, next->getIterator(), /*Unreachable=*/false, unlikely);
    builder.SetInsertPoint(rare);
    llvm::SmallVector<Value*, 8> instead;
    for (const Case& each : cases_) {
      Value* other = each.other();
      instead.push_back(cases_.size() == 1 ? other : builder.CreateSelect(each.is_rare, other, each.usual));
    }
    builder.SetInsertPoint(next->getParent(), next->getParent()->begin());
    for (const auto& [each, other] : llvm::zip_equal(cases_, instead)) {
      llvm::PHINode* result = builder.CreatePHI(each.usual->getType(), 2);
      result->addIncoming(each.usual, before);
      result->addIncoming(other, rare->getParent());
      each.result->replaceAllUsesWith(result);
      each.result->eraseFromParent();
    }
    builder.SetInsertPoint(next);
  }

 private:
  struct Case {
    llvm::Instruction* result;
    Value *usual, *is_rare;
    std::function<Value*()> other;
  };
  std::vector<Case> cases_;
};

// Of one float.
class QuickMath {
 public:
  QuickMath(llvm::IRBuilder<>& builder, RareCases& rare) : builder_(builder), rare_(rare) {}

  // Bounds are where the result is infinite or 0 anyway: infinities would become NaN.
  Value* exp(Value* x) {
    x = builder_.CreateBinaryIntrinsic(intrinsic::minimum, x, number(89));
    x = builder_.CreateBinaryIntrinsic(intrinsic::maximum, x, number(-104));
    Value* power = builder_.CreateFMul(x, number(log2_e));
    Value* rest = fma(x, number(log2_e), builder_.CreateFNeg(power));
    rest = fma(x, number(log2_e_rest), rest);
    return builder_.CreateFMul(exp2(power), fma(rest, number(ln_2), number(1)));
  }

  // What is too small for its exponent counts as 0, here and below: to keep it takes the GPU three instructions more.
  Value* exp2(Value* x) { return builder_.CreateIntrinsic(intrinsic::nvvm_ex2_approx_ftz, {x->getType()}, {x}); }

  // A unit in the last place or two.
  Value* rsqrt(Value* x) { return builder_.CreateIntrinsic(intrinsic::nvvm_rsqrt_approx_ftz_f, {}, {x}); }

  // The instruction's value is up to 2.3 units in the last place too large between 1/4 and 1/2, and less than 1.7
  // elsewhere. A unit less there, which others lose in rounding, leaves all within 2.
  Value* log2(Value* x) {
    Value* value = instruction_log2(x);
    return builder_.CreateFAdd(value, below_half(value, -0.8 * unit_above_1));
  }

  // As log2, with units of results below 1.
  Value* log(Value* x) {
    Value* value = instruction_log2(x);
    return fma(value, number(ln_2), below_half(value, -0.5 * unit_above_1));
  }

  Value* log10(Value* x) { return builder_.CreateFMul(log2(x), number(log10_2)); }

  // Of what is left of full turns, which three parts take off exactly enough; large angles are for the function that
  // has all of them.
  Value* sin(Value* x) { return of_angle(x, intrinsic::nvvm_sin_approx_ftz_f, intrinsic::sin); }
  Value* cos(Value* x) { return of_angle(x, intrinsic::nvvm_cos_approx_ftz_f, intrinsic::cos); }

  // 2^(y log2(x)), which is what fast math's power is. Infinite or not a number: some other case, which is for the
  // function that has all of them.
  Value* pow(Value* x, Value* y) {
    Value* power = builder_.CreateFMul(y, instruction_log2(x));
    return rare_.add(builder_, exp2(power), is_at_least(power, std::numeric_limits<double>::infinity()),
                     [&to = builder_, x, y] { return to.CreateBinaryIntrinsic(intrinsic::pow, x, y); });
  }

  // (1 - t) / (1 + t) with t = e^(-2 |x|); of small numbers that would lose digits.
  Value* tanh(Value* x) {
    Value* magnitude = builder_.CreateUnaryIntrinsic(intrinsic::fabs, x);
    Value* t = exp2(builder_.CreateFMul(magnitude, number(-2 * log2_e)));
    // The divisor is between 1 and 2, so that its inverse needs no other exponent.
    Value* inverse =
        builder_.CreateIntrinsic(intrinsic::nvvm_rcp_approx_ftz_f, {}, {builder_.CreateFAdd(number(1), t)});
    Value* quotient = builder_.CreateFMul(builder_.CreateFSub(number(1), t), inverse);
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

  // What is too small for a float's exponent counts as 0.
  Value* instruction_log2(Value* x) { return builder_.CreateIntrinsic(intrinsic::nvvm_lg2_approx_ftz_f, {}, {x}); }

  // What is added to logarithms of numbers below a half.
  Value* below_half(Value* logarithm, double what) {
    return builder_.CreateSelect(builder_.CreateFCmpOLT(logarithm, number(-1)), number(what), number(0));
  }

  // |x| >= bound, or not a number.
  Value* is_at_least(Value* x, double bound) {
    return builder_.CreateFCmpUGE(builder_.CreateUnaryIntrinsic(intrinsic::fabs, x), number(bound));
  }

  Value* of_angle(Value* x, intrinsic::ID quick, intrinsic::ID whole) {
    // The GPU's own rounding is as slow as its sine.
    Value* turns = builder_.CreateFSub(fma(x, number(turn_inverse), number(rounding)), number(rounding));
    Value* rest = x;
    for (const double part : turn_parts) rest = fma(turns, number(-part), rest);
    Value* usual = builder_.CreateIntrinsic(quick, {}, {rest});
    if (whole == intrinsic::sin) usual = builder_.CreateSelect(is_at_least(rest, small_angle), usual, rest);
    return rare_.add(builder_, usual, is_at_least(x, large_angle),
                     [&to = builder_, x, whole] { return to.CreateUnaryIntrinsic(whole, x); });
  }

  Value* number(double value) { return llvm::ConstantFP::get(builder_.getFloatTy(), value); }
  Value* fma(Value* a, Value* b, Value* c) {
    return builder_.CreateIntrinsic(intrinsic::fma, {a->getType()}, {a, b, c});
  }

  llvm::IRBuilder<>& builder_;
  RareCases& rare_;
};

bool is_one(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call) return false;
  bool is_for_half = false;  // whose functions fast math has within a unit in the last place, too
  switch (call->getIntrinsicID()) {
    case intrinsic::exp:
    case intrinsic::exp2:
    case intrinsic::tanh: is_for_half = true; break;
    case intrinsic::cos:
    case intrinsic::log:
    case intrinsic::log10:
    case intrinsic::log2:
    case intrinsic::pow:
    case intrinsic::sin: break;
    default: return false;
  }
  const llvm::Type* element = call->getType()->getScalarType();
  const auto* vector = llvm::dyn_cast<llvm::VectorType>(call->getType());
  const bool has_form = element->isFloatTy() || (is_for_half && element->getScalarSizeInBits() < 32);
  return call->hasApproxFunc() && has_form && (!vector || !vector->isScalableTy());
}

// 1 / sqrt(x) of floats that may be approximate: x.
Value* root_below(Value& value) {
  using namespace llvm::PatternMatch;
  Value *root = nullptr, *x = nullptr;
  if (!value.getType()->isFloatTy() || !match(&value, m_FDiv(m_FPOne(), m_Value(root)))) return nullptr;
  if (!match(root, m_Intrinsic<intrinsic::sqrt>(m_Value(x)))) return nullptr;
  const bool is_quick =
      llvm::cast<llvm::Instruction>(value).hasApproxFunc() && llvm::cast<llvm::Instruction>(root)->hasApproxFunc();
  return is_quick ? x : nullptr;
}

// The library's rsqrt (stdlib/include/metalloid/math_scalar.h): such a quotient y and what corrects its last bit. x,
// too.
Value* corrected_root_below(llvm::Instruction& instruction) {
  using namespace llvm::PatternMatch;
  Value *correction = nullptr, *y = nullptr, *e = nullptr, *lost = nullptr, *root = nullptr;
  if (!match(&instruction, m_Select(m_Value(), m_Value(correction), m_Value(y)))) return nullptr;
  Value* x = root_below(*y);
  if (!x) return nullptr;
  Value* half_e = nullptr;
  const auto is_fma = [](Value* value, const auto& a, const auto& b, const auto& c) {
    return match(value, m_Intrinsic<intrinsic::fma>(a, b, c));
  };
  Value *product = nullptr, *half = nullptr, *rest = nullptr;
  if (!is_fma(correction, m_Specific(y), m_Value(half_e), m_Specific(y))) return nullptr;
  if (!is_fma(half_e, m_Value(product), m_Value(e), m_Value(half))) return nullptr;
  if (!match(product, m_c_FMul(m_Specific(e), m_SpecificFP(0.375)))) return nullptr;
  if (!match(half, m_c_FMul(m_Specific(e), m_SpecificFP(0.5)))) return nullptr;
  if (!is_fma(e, m_FNeg(m_Value(lost)), m_Specific(y), m_Value(rest))) return nullptr;
  if (!is_fma(rest, m_Value(root), m_Specific(y), m_FPOne())) return nullptr;
  if (!is_fma(lost, m_Specific(x), m_Specific(y), m_Specific(root))) return nullptr;
  const bool is_root = match(root, m_c_FMul(m_Specific(x), m_FNeg(m_Specific(y)))) ||
                       match(root, m_FNeg(m_c_FMul(m_Specific(x), m_Specific(y))));
  return is_root ? x : nullptr;
}

Value* compute(llvm::IRBuilder<>& builder, RareCases& rare, intrinsic::ID id, llvm::ArrayRef<Value*> operands) {
  llvm::Type* type = operands.front()->getType();
  QuickMath math(builder, rare);
  llvm::SmallVector<Value*, 2> wide;
  for (Value* operand : operands) wide.push_back(builder.CreateFPExt(operand, builder.getFloatTy()));
  Value* result = nullptr;
  switch (id) {
    case intrinsic::cos: result = math.cos(wide[0]); break;
    case intrinsic::exp: result = math.exp(wide[0]); break;
    case intrinsic::exp2: result = math.exp2(wide[0]); break;
    case intrinsic::log: result = math.log(wide[0]); break;
    case intrinsic::log10: result = math.log10(wide[0]); break;
    case intrinsic::log2: result = math.log2(wide[0]); break;
    case intrinsic::sin: result = math.sin(wide[0]); break;
    case intrinsic::tanh: result = math.tanh(wide[0]); break;
    default: result = math.pow(wide[0], wide[1]);
  }
  return builder.CreateFPTrunc(result, type);
}

// Of each element; rare cases are still to come.
std::vector<llvm::WeakTrackingVH> compute_elements(llvm::IRBuilder<>& builder, RareCases& rare,
                                                   const llvm::IntrinsicInst& call) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(call.getType());
  std::vector<llvm::WeakTrackingVH> results;
  for (unsigned i = 0; i < (vector ? vector->getNumElements() : 1); ++i) {
    llvm::SmallVector<Value*, 2> operands;
    for (Value* operand : call.args()) {
      operands.push_back(vector ? builder.CreateExtractElement(operand, std::uint64_t{i}) : operand);
    }
    results.emplace_back(compute(builder, rare, call.getIntrinsicID(), operands));
  }
  return results;
}

bool has_rare_cases(const llvm::IntrinsicInst& call) {
  const intrinsic::ID id = call.getIntrinsicID();
  return id == intrinsic::sin || id == intrinsic::cos || id == intrinsic::pow;
}

// Those behind the first in its block whose operands are there before it. They are marked as taken.
llvm::SmallVector<llvm::IntrinsicInst*, 8> take_with_rare_cases(llvm::MutableArrayRef<llvm::IntrinsicInst*> calls) {
  llvm::IntrinsicInst* first = calls.front();
  llvm::SmallVector<llvm::IntrinsicInst*, 8> taken;
  const auto is_there = [&](const Value* operand) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(operand);
    return !instruction || instruction->getParent() != first->getParent() || instruction->comesBefore(first);
  };
  for (llvm::IntrinsicInst*& call : calls) {
    if (taken.size() == most_together) break;
    if (!call || !has_rare_cases(*call) || call->getParent() != first->getParent()) continue;
    if (llvm::all_of(call->args(), is_there)) taken.push_back(std::exchange(call, nullptr));
  }
  return taken;
}

void replace(llvm::Instruction& instruction, Value* result) {
  instruction.replaceAllUsesWith(result);
  instruction.eraseFromParent();
}

// Of what computed them only the instruction itself goes here.
void take_roots(llvm::Function& function) {
  for (const auto root_of : {corrected_root_below, +[](llvm::Instruction& value) { return root_below(value); }}) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      Value* x = root_of(instruction);
      if (!x) continue;
      llvm::IRBuilder<> builder(&instruction);
      RareCases none;
      replace(instruction, QuickMath(builder, none).rsqrt(x));
    }
  }
}

}  // namespace

void quick_math(llvm::Module& module) {
  for (llvm::Function& function : module) {
    take_roots(function);
    llvm::SmallVector<llvm::IntrinsicInst*, 16> calls;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (is_one(instruction)) calls.push_back(llvm::cast<llvm::IntrinsicInst>(&instruction));
    }
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (!calls[i]) continue;
      llvm::IRBuilder<> builder(calls[i]);
      const llvm::SmallVector<llvm::IntrinsicInst*, 8> together =
          has_rare_cases(*calls[i]) ? take_with_rare_cases(llvm::MutableArrayRef(calls).drop_front(i))
                                    : llvm::SmallVector<llvm::IntrinsicInst*, 8>{calls[i]};
      RareCases rare;
      std::vector<std::vector<llvm::WeakTrackingVH>> results;
      for (const llvm::IntrinsicInst* call : together) results.push_back(compute_elements(builder, rare, *call));
      rare.branch(builder);
      for (const auto& [call, elements] : llvm::zip_equal(together, results)) {
        Value* result = elements.front();
        if (call->getType()->isVectorTy()) {
          result = llvm::PoisonValue::get(call->getType());
          for (std::size_t e = 0; e < elements.size(); ++e)
            result = builder.CreateInsertElement(result, elements[e], e);
        }
        if (call != together.front()) {
          replace(*call, result);
        } else {
          call->replaceAllUsesWith(result);
        }
      }
      together.front()->eraseFromParent();  // where the builder appends
    }
  }
}

}  // namespace metalloid::engines::cuda
