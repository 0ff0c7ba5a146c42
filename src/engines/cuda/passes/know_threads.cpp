#include "engines/cuda/passes/know_threads.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <cstddef>
#include <optional>

#include "engines/cuda/kernel_abi.h"
#include "ir/support/pass_managers.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Instruction;
using llvm::Value;

// Of the size of a threadgroup, which blocks have as well, the dimension that an instruction reads.
std::optional<unsigned> dimension_of(Instruction& instruction) {
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
    switch (call->getIntrinsicID()) {
      case llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x: return 0;
      case llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_y: return 1;
      case llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_z: return 2;
      default: return std::nullopt;
    }
  }
  auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  if (!load || !load->getType()->isIntegerTy(32)) return std::nullopt;
  const llvm::DataLayout& layout = load->getDataLayout();
  llvm::APInt offset(layout.getIndexTypeSizeInBits(load->getPointerOperandType()), 0);
  const Value* base = load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true);
  const std::uint64_t first = offsetof(LaunchHead, threads_per_threadgroup);
  for (unsigned d = 0; d < 3; ++d) {
    if (base == instruction.getFunction()->getArg(0) && offset == first + 4 * d) return d;
  }
  return std::nullopt;
}

// Of a thread's place in its threadgroup, the dimension that a call reads.
std::optional<unsigned> dimension_of_place(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  switch (call ? call->getIntrinsicID() : llvm::Intrinsic::not_intrinsic) {
    case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x: return 0;
    case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_y: return 1;
    case llvm::Intrinsic::nvvm_read_ptx_sreg_tid_z: return 2;
    default: return std::nullopt;
  }
}

}  // namespace

void know_threads(llvm::Function& function, const std::array<std::uint32_t, 3>& threads) {
  for (Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    const auto size = dimension_of(instruction), place = dimension_of_place(instruction);
    if (place && threads[*place] > 1) {
      llvm::cast<llvm::CallInst>(instruction)
          .addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, threads[*place])));
    } else if (size || place) {
      const std::uint32_t number = size ? threads[*size] : 0;
      instruction.replaceAllUsesWith(llvm::ConstantInt::get(instruction.getType(), number));
      instruction.eraseFromParent();
    }
  }
}

bool counts_threads(llvm::Module& module) {
  llvm::Function& function = *module.getFunction(llvm::StringRef(kernel_name));
  ir::PassManagers managers;
  const auto& loops = managers.functions.getResult<llvm::LoopAnalysis>(function);
  llvm::SmallPtrSet<Value*, 16> sizes;
  llvm::SmallVector<Value*, 16> left;
  const auto add = [&](Instruction& instruction) {
    if (sizes.insert(&instruction).second) left.push_back(&instruction);
  };
  for (Instruction& instruction : llvm::instructions(function)) {
    if (dimension_of(instruction)) add(instruction);
  }
  while (!left.empty()) {
    for (llvm::User* user : left.pop_back_val()->users()) {
      auto& instruction = *llvm::cast<Instruction>(user);
      const bool is_size = !llvm::isa<llvm::PHINode>(instruction) && !instruction.mayReadOrWriteMemory() &&
                           llvm::all_of(instruction.operands(), [&](const llvm::Use& operand) {
                             return llvm::isa<llvm::Constant>(operand) || sizes.contains(operand.get());
                           });
      if (is_size) {
        add(instruction);
      } else if (loops.getLoopFor(instruction.getParent())) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace metalloid::engines::cuda
