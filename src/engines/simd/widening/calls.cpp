// Operations of ir/operations.def.
#include "engines/simd/matrices/matrix_code.h"
#include "engines/simd/run/simdgroup_abi.h"
#include "engines/simd/vectors/cross_lane_code.h"
#include "engines/simd/widening/widening.h"
#include "ir/operations.h"

namespace metalloid::engines::simd {

using llvm::Value;

// False: not one of them.
bool Widening::widen_call(llvm::CallInst& call, Widened& result) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee || callee->isIntrinsic()) return false;
  if (widen_screen_call(call)) return true;
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
