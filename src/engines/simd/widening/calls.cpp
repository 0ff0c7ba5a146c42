// Operations of ir/operations.def.
#include "engines/simd/lane/whole_turns.h"
#include "engines/simd/matrices/matrix_code.h"
#include "engines/simd/run/simdgroup_abi.h"
#include "engines/simd/vectors/cross_lane_code.h"
#include "engines/simd/widening/widening.h"
#include "ir/operations.h"

namespace metalloid::engines::simd {

using llvm::Value;

namespace {

// A part of what a function gives back.
Value* part_of(llvm::IRBuilder<>& builder, Value* result, unsigned part) {
  return result->getType()->isStructTy() ? builder.CreateExtractValue(result, part) : result;
}

}  // namespace

void Widening::call_in_step(llvm::CallInst& call, llvm::Function& wide, Widened& result) {
  const Signature& signature = functions_.signature(wide);
  llvm::SmallVector<Value*, 16> operands;
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    Value* argument = call.getArgOperand(i);
    if (signature[i].shape.kind != Shape::Kind::varying) {
      operands.push_back(scalar_of(argument));
      continue;
    }
    for (unsigned part = 0; part < parts_of(argument->getType()); ++part) {
      operands.push_back(vector_of(argument, part));
    }
  }
  operands.push_back(bits_of(lanes_));
  llvm::CallInst* made = builder_.CreateCall(&wide, operands);
  made->setCallingConv(wide.getCallingConv());
  if (call.getType()->isVoidTy()) return;
  for (unsigned part = 0; part < parts_of(call.getType()); ++part) {
    result.vectors.push_back(part_of(builder_, made, part));
  }
}

// Null: nothing. The kernel's own program has nothing to give.
void Widening::give_back(Value* result) {
  if (!result) {
    builder_.CreateRetVoid();
    return;
  }
  llvm::Type* type = wide_.getReturnType();
  if (!type->isStructTy()) {
    builder_.CreateRet(vector_of(result));
    return;
  }
  Value* all = llvm::PoisonValue::get(type);
  for (unsigned part = 0; part < type->getStructNumElements(); ++part) {
    all = builder_.CreateInsertValue(all, vector_of(result, part), part);
  }
  builder_.CreateRet(all);
}

// That of a lane that takes part: others' addresses may be anything.
Value* Widening::common_tag(llvm::Instruction& instruction) {
  auto& number = *llvm::cast<llvm::PtrToIntInst>(instruction.getOperand(0));
  Value* pointer = number.getPointerOperand();
  Value* own = nullptr;
  if (shapes_.is_varying(*pointer)) {
    Value* lane = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits_of(lanes_), builder_.getTrue());
    own = builder_.CreateExtractElement(vector_of(pointer), lane);
  } else {
    own = scalar_of(pointer);
  }
  own = builder_.CreatePtrToInt(own, number.getType());
  return builder_.CreateBinOp(llvm::cast<llvm::BinaryOperator>(instruction).getOpcode(), own,
                              instruction.getOperand(1));
}

// False: not one of them.
bool Widening::widen_call(llvm::CallInst& call, Widened& result) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee || callee->isIntrinsic()) return false;
  if (widen_screen_call(call) || widen_tile_operation(call)) return true;
  if (!callee->isDeclaration()) {
    call_in_step(call, functions_.wide(*call.getCalledFunction()), result);
    return true;
  }
  const std::string_view name = callee->getName();
  // In step, lanes have always met already.
  if (name == ir::simdgroup_barrier_name || name == ir::turn_end_name) return true;
  if (name == ir::threadgroup_barrier_name || name == yield_name) {
    const std::string_view stop = name == yield_name ? yield_name : barrier_name;
    auto barrier = wide_.getParent()->getOrInsertFunction(llvm::StringRef(stop), builder_.getVoidTy());
    llvm::CallInst* made = builder_.CreateCall(barrier);
    made->setConvergent();
    made->setDoesNotThrow();
    return true;
  }
  if (const auto operation = ir::parse_matrix_operation(name)) {
    llvm::SmallVector<Value*, 6> operands;
    for (Value* operand : call.args()) {
      for (unsigned part = 0; part < 2; ++part) operands.push_back(vector_of(operand, part));
    }
    for (Value* part : matrix_code(builder_, *operation, operands, lanes_)) result.vectors.push_back(part);
    return true;
  }
  const auto operation = ir::parse_cross_lane(name);
  if (!operation) return false;
  if (call.hasMetadata(llvm::StringRef(of_lane_0_name)) && !shapes_.is_varying(*call.getArgOperand(0))) {
    result.scalar = scalar_of(call.getArgOperand(0));
    return true;
  }
  Value* operand = call.arg_size() > 1 ? vector_of(call.getArgOperand(1)) : nullptr;
  Value* made = cross_lane_code(builder_, *operation, vector_of(call.getArgOperand(0)), operand, lanes_);
  if (made->getType()->isVectorTy()) {
    result.vectors.push_back(made);
  } else {
    result.scalar = made;
  }
  return true;
}

}  // namespace metalloid::engines::simd
