// lower_math
//
//   %y = call <32 x float> @llvm.exp.v32f32(<32 x float> %x)
//
// becomes the instructions of a range reduction and a polynomial, where the call stood. LLVM would take the vector
// apart and call expf 32 times.
//
//   1. Collect the instructions to replace. Whoever uses the same function very often gets one copy of it: a function
//      of the module that is called. Otherwise the code goes where the call is.
//   2. half and bfloat are computed as float and rounded once.
//   3. Sine, cosine and tangent of one angle in one block share its reduction.
//   4. What only few arguments need (angles above 2^17, quotients of fmod above 2^22, powers of negative numbers) is a
//      function (rare_arguments.h), called behind a branch on "any element".
//
// The instructions carry no fast-math flags: the formulas are exact where it matters as they stand. So a call's own
// flags make no difference; bounds are those of precise math (MSL spec §8.4), which the fast ones contain.
#include "ir/math/lower_math.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>

#include <map>
#include <optional>
#include <utility>

#include "ir/math/functions.h"
#include "ir/math/module_functions.h"

namespace metalloid::ir::math {
namespace {

namespace intrinsic = llvm::Intrinsic;

// With more calls than this, a function is worth calls.
constexpr unsigned most_copies = 16;

// clang-format off
enum class Operation {
  acos, asin, atan, atan2, ceil, cos, cosh, exp, exp10, exp2, floor, fma, fma_of_halves, fmod, in_float, ldexp,
  log, log10, log2, pow, powi, rint, round, sin, sinh, tan, tanh, trunc,
};
constexpr const char* names[] = {
  "acos", "asin", "atan", "atan2", "ceil", "cos", "cosh", "exp", "exp10", "exp2", "floor", "fma", "fma_of_halves", "fmod",
  "", "ldexp", "log", "log10", "log2", "pow", "powi", "rint", "round", "sin", "sinh", "tan", "tanh", "trunc",
};
// clang-format on

// Arithmetic under `#pragma METAL fp math_mode(safe)` has intrinsics of its own.
std::optional<Operation> operation_of(intrinsic::ID id, const MathHardware& hardware) {
  const auto without = [](bool instruction, Operation operation) {
    return instruction ? std::nullopt : std::optional(operation);
  };
  switch (id) {
    case intrinsic::acos:
    case intrinsic::experimental_constrained_acos: return Operation::acos;
    case intrinsic::asin:
    case intrinsic::experimental_constrained_asin: return Operation::asin;
    case intrinsic::atan:
    case intrinsic::experimental_constrained_atan: return Operation::atan;
    case intrinsic::atan2:
    case intrinsic::experimental_constrained_atan2: return Operation::atan2;
    case intrinsic::cos:
    case intrinsic::experimental_constrained_cos: return Operation::cos;
    case intrinsic::cosh:
    case intrinsic::experimental_constrained_cosh: return Operation::cosh;
    case intrinsic::exp:
    case intrinsic::experimental_constrained_exp: return Operation::exp;
    case intrinsic::exp10: return Operation::exp10;
    case intrinsic::exp2:
    case intrinsic::experimental_constrained_exp2: return Operation::exp2;
    case intrinsic::experimental_constrained_frem: return Operation::fmod;
    case intrinsic::log:
    case intrinsic::experimental_constrained_log: return Operation::log;
    case intrinsic::log10:
    case intrinsic::experimental_constrained_log10: return Operation::log10;
    case intrinsic::log2:
    case intrinsic::experimental_constrained_log2: return Operation::log2;
    case intrinsic::pow:
    case intrinsic::experimental_constrained_pow: return Operation::pow;
    case intrinsic::powi: return Operation::powi;
    case intrinsic::sin:
    case intrinsic::experimental_constrained_sin: return Operation::sin;
    case intrinsic::sinh:
    case intrinsic::experimental_constrained_sinh: return Operation::sinh;
    case intrinsic::tan:
    case intrinsic::experimental_constrained_tan: return Operation::tan;
    case intrinsic::tanh:
    case intrinsic::experimental_constrained_tanh: return Operation::tanh;
    case intrinsic::ldexp:
    case intrinsic::experimental_constrained_ldexp: return without(hardware.scaling, Operation::ldexp);
    case intrinsic::fma:
    case intrinsic::experimental_constrained_fma: return without(hardware.fused_multiply_add, Operation::fma);
    case intrinsic::ceil:
    case intrinsic::experimental_constrained_ceil: return without(hardware.rounding, Operation::ceil);
    case intrinsic::floor:
    case intrinsic::experimental_constrained_floor: return without(hardware.rounding, Operation::floor);
    case intrinsic::rint:
    case intrinsic::nearbyint:
    case intrinsic::roundeven:
    case intrinsic::experimental_constrained_rint:
    case intrinsic::experimental_constrained_nearbyint:
    case intrinsic::experimental_constrained_roundeven: return without(hardware.rounding, Operation::rint);
    case intrinsic::round:
    case intrinsic::experimental_constrained_round: return without(hardware.rounding, Operation::round);
    case intrinsic::trunc:
    case intrinsic::experimental_constrained_trunc: return without(hardware.rounding, Operation::trunc);
    default: return std::nullopt;
  }
}

// What LLVM takes apart for types that the processor cannot compute with, and gives the same result in float.
bool is_exact_in_float(intrinsic::ID id) {
  switch (id) {
    case intrinsic::ceil:
    case intrinsic::floor:
    case intrinsic::maximum:
    case intrinsic::maximumnum:
    case intrinsic::maxnum:
    case intrinsic::minimum:
    case intrinsic::minimumnum:
    case intrinsic::minnum:
    case intrinsic::nearbyint:
    case intrinsic::rint:
    case intrinsic::round:
    case intrinsic::roundeven:
    case intrinsic::sqrt:  // float has more than twice the digits
    case intrinsic::trunc: return true;
    default: return false;
  }
}

struct Call {
  llvm::Instruction* instruction;
  Operation operation;
};

std::optional<Call> call_of(llvm::Instruction& instruction, const MathHardware& hardware, MathForms forms) {
  const bool has_form = instruction.getType()->isVectorTy() || forms == MathForms::vectors_and_scalars;
  const llvm::Type* element = instruction.getType()->getScalarType();
  if (!has_form || !element->isFloatingPointTy() || element->getScalarSizeInBits() > 32) return std::nullopt;
  if (instruction.getOpcode() == llvm::Instruction::FRem) return Call{&instruction, Operation::fmod};
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call) return std::nullopt;
  const intrinsic::ID id = call->getIntrinsicID();
  const bool emulated_half = element->isHalfTy() && !hardware.half;
  if (emulated_half && id == intrinsic::fma) return Call{&instruction, Operation::fma_of_halves};
  if (const auto operation = operation_of(id, hardware)) return Call{&instruction, *operation};
  if ((emulated_half || element->isBFloatTy()) && is_exact_in_float(id)) {
    return Call{&instruction, Operation::in_float};
  }
  return std::nullopt;
}

bool is_angle(Operation operation) {
  return operation == Operation::sin || operation == Operation::cos || operation == Operation::tan;
}

class MathLowering {
 public:
  MathLowering(llvm::Module& module, const MathHardware& hardware, RareBody rare_body)
      : hardware_(hardware), functions_(module, hardware, std::move(rare_body)) {}

  void lower(llvm::ArrayRef<Call> calls) {
    std::map<std::pair<Operation, llvm::Type*>, unsigned> counts;
    for (const Call& call : calls) ++counts[{call.operation, call.instruction->getType()}];
    // A reduction in one block serves the angles after it there; blocks are those before any was split.
    llvm::DenseMap<llvm::Instruction*, llvm::BasicBlock*> blocks;
    for (const Call& call : calls) blocks[call.instruction] = call.instruction->getParent();
    for (const Call& call : calls) {
      llvm::Instruction& instruction = *call.instruction;
      llvm::IRBuilder<> builder(&instruction);
      const Emitter emitter{builder, hardware_};
      llvm::SmallVector<llvm::Value*, 3> operands = operands_of(instruction, call.operation, emitter);
      llvm::Value* result;
      if (call.operation == Operation::in_float) {
        const auto id = llvm::cast<llvm::IntrinsicInst>(instruction).getIntrinsicID();
        result = builder.CreateIntrinsic(id, {operands[0]->getType()}, operands);
      } else if (counts.at({call.operation, instruction.getType()}) > most_copies) {
        result = builder.CreateCall(&function_of(call.operation, operands, instruction), operands);
      } else {
        reductions_ = &shared_[{blocks.at(&instruction), instruction.getFunction()}];
        result = emit(call.operation, operands, emitter, instruction);
      }
      if (instruction.getType()->getScalarSizeInBits() < 32)
        result = builder.CreateFPTrunc(result, instruction.getType());
      result->takeName(&instruction);
      instruction.replaceAllUsesWith(result);
      instruction.eraseFromParent();
    }
  }

 private:
  using Reductions = std::map<llvm::Value*, ReducedAngle>;

  // As floats, or ints for exponents; exponents that vectors have in common as vectors.
  static llvm::SmallVector<llvm::Value*, 3> operands_of(llvm::Instruction& instruction, Operation operation,
                                                        const Emitter& emitter) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    llvm::SmallVector<llvm::Value*, 3> operands;
    const auto* vector = llvm::dyn_cast<llvm::VectorType>(instruction.getType());
    const auto in_form = [&](llvm::Type* element) -> llvm::Type* {
      return vector ? llvm::VectorType::get(element, vector->getElementCount()) : element;
    };
    for (llvm::Value* operand : call ? call->args() : instruction.operands()) {
      if (operand->getType()->isMetadataTy()) continue;  // of constrained intrinsics: how to round
      if (vector && operand->getType()->isIntegerTy()) {
        operand = emitter.builder.CreateVectorSplat(vector->getElementCount(), operand);
      }
      if (operand->getType()->isIntOrIntVectorTy()) {
        operand = emitter.builder.CreateSExtOrTrunc(operand, in_form(emitter.builder.getInt32Ty()));
      } else {
        operand = emitter.builder.CreateFPExt(operand, in_form(emitter.builder.getFloatTy()));
      }
      operands.push_back(operand);
    }
    return operands;
  }

  llvm::Function& function_of(Operation operation, llvm::ArrayRef<llvm::Value*> operands,
                              const llvm::Instruction& user) {
    return functions_.get(names[static_cast<int>(operation)], operands, user,
                          [&](const Emitter& emitter, llvm::ArrayRef<llvm::Value*> parameters) {
                            Reductions own;
                            reductions_ = &own;
                            return emit(operation, parameters, emitter, user);
                          });
  }

  const ReducedAngle& reduced(Floats x, const llvm::Instruction& user) {
    const auto found = reductions_->find(x.value());
    if (found != reductions_->end()) return found->second;
    // No half is as large as that.
    const auto* extended = llvm::dyn_cast<llvm::FPExtInst>(x.value());
    llvm::Function* large = nullptr;
    if (!extended || !extended->getSrcTy()->getScalarType()->isHalfTy()) {
      llvm::Type* quarter = x.with_element(x.builder().getInt32Ty());
      large = &functions_.get_rare("reduce_large_angles", {x.type()}, {x.type(), quarter}, user);
    }
    return reductions_->emplace(x.value(), reduce_angle(x, large)).first->second;
  }

  llvm::Value* emit(Operation operation, llvm::ArrayRef<llvm::Value*> operands, const Emitter& emitter,
                    const llvm::Instruction& user) {
    const Floats x(emitter, operands[0]);
    const auto second = [&] { return Floats(emitter, operands[1]); };
    if (is_angle(operation)) {
      const ReducedAngle& shared = reduced(x, user);
      const ReducedAngle angle{Floats(emitter, shared.rest.value()), Integers(emitter, shared.quarter.value())};
      return (operation == Operation::sin ? sin(angle) : operation == Operation::cos ? cos(angle) : tan(angle)).value();
    }
    switch (operation) {
      case Operation::acos: return acos(x).value();
      case Operation::asin: return asin(x).value();
      case Operation::atan: return atan(x).value();
      case Operation::atan2: return atan2(x, second()).value();
      case Operation::ceil: return ceil(x).value();
      case Operation::cosh: return cosh(x).value();
      case Operation::exp: return exp(x).value();
      case Operation::exp10: return exp10(x).value();
      case Operation::exp2: return exp2(x).value();
      case Operation::floor: return floor(x).value();
      case Operation::fma: return fma(x, second(), Floats(emitter, operands[2])).value();
      case Operation::fma_of_halves: return fma_of_halves(x, second(), Floats(emitter, operands[2])).value();
      case Operation::fmod:
        return fmod(x, second(), &functions_.get_rare("large_remainders", {x.type(), x.type()}, {x.type()}, user))
            .value();
      case Operation::ldexp: return ldexp(x, Integers(emitter, operands[1])).value();
      case Operation::log: return log(x).value();
      case Operation::log10: return log10(x).value();
      case Operation::log2: return log2(x).value();
      case Operation::pow: {
        llvm::Function* unusual = nullptr;
        if (hardware_.fused_multiply_add) {
          unusual = &functions_.get_rare("unusual_powers", {x.type(), x.type()}, {x.type()}, user);
        }
        return pow(x, second(), unusual).value();
      }
      case Operation::powi: return powi(x, Integers(emitter, operands[1])).value();
      case Operation::rint: return round_to_even(x).value();
      case Operation::round: return round(x).value();
      case Operation::sinh: return sinh(x).value();
      case Operation::tanh: return tanh(x).value();
      default: return trunc(x).value();
    }
  }

  MathHardware hardware_;
  ModuleFunctions functions_;
  std::map<std::pair<llvm::BasicBlock*, llvm::Function*>, Reductions> shared_;
  Reductions* reductions_ = nullptr;
};

}  // namespace

void lower_math(llvm::Module& module, const MathHardware& hardware, MathForms forms, RareBody rare_body) {
  llvm::SmallVector<Call> calls;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (const auto call = call_of(instruction, hardware, forms)) calls.push_back(*call);
    }
  }
  MathLowering(module, hardware, std::move(rare_body)).lower(calls);
}

}  // namespace metalloid::ir::math
