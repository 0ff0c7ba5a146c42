#include "engines/simd/lane/choose_width.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>

#include "engines/simd/shapes/lane_target.h"
#include "ir/operations.h"

namespace metalloid::engines::simd {
namespace {

// Whether lanes of a simdgroup have something to do with each other.
bool is_of_simdgroup(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  const ir::Operation* operation = callee ? ir::find_operation(callee->getName()) : nullptr;
  return operation && (operation->cross_lane || operation->matrix || !operation->whole.empty() ||
                       ir::is_lane_meeting(operation->name) || operation->name == ir::turn_end_name);
}

bool asks_for_simdgroup(const ArgumentInfo& argument) {
  return argument.is_active && (argument.builtin == Builtin::thread_index_in_simdgroup ||
                                argument.builtin == Builtin::simdgroup_index_in_threadgroup);
}

}  // namespace

void choose_width(llvm::ArrayRef<llvm::Function*> program, const KernelInfo& kernel, bool threads_meet,
                  unsigned register_bits, const WidthLimits& limits) {
  if (llvm::any_of(kernel.arguments, asks_for_simdgroup)) return;
  unsigned all = 0, of_64_bits = 0;
  for (const llvm::Function* function : program) {
    for (const llvm::Instruction& instruction : llvm::instructions(*function)) {
      if (is_of_simdgroup(instruction)) return;
      ++all;
      const llvm::Type* type = instruction.getType();
      of_64_bits += type->isIntOrIntVectorTy() && type->getScalarSizeInBits() >= 64;
    }
  }
  constexpr unsigned lane_bits = 32, half = simdgroup_width / 2, quarter = simdgroup_width / 4;
  const unsigned registers = (all + of_64_bits) * std::max(1u, half * lane_bits / register_bits);
  unsigned lanes = simdgroup_width;
  if (3 * of_64_bits >= all) {
    if (registers >= limits.of_64_bits) lanes = half;
    if (registers >= limits.long_of_64_bits && !threads_meet) lanes = quarter;
  } else {
    if (registers >= limits.of_any) lanes = half;
    const bool fills = quarter * lane_bits >= register_bits;
    if (registers >= limits.long_of_any && fills && !threads_meet) lanes = quarter;
  }
  if (lanes == simdgroup_width) return;
  for (llvm::Function* function : program) set_step_width(*function, lanes);
}

}  // namespace metalloid::engines::simd
