#include "engines/cuda/passes/limit_recursion.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <cstdint>

#include "engines/cuda/passes/stop_loops.h"
#include "ir/support/pass_down.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;

constexpr std::uint64_t room_for_registers = 1 << 10;
// A read of the host's memory takes a microsecond or two. Nobody counts calls: the clock says when it is due.
constexpr std::uint32_t calls_between = 4096, ticks_shift = 2;

std::uint64_t stack_bytes_of(const llvm::Function& function) {
  std::uint64_t bytes = room_for_registers;
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    const auto size = variable ? variable->getAllocationSize(function.getDataLayout()) : std::nullopt;
    if (size) bytes += llvm::alignTo(size->getFixedValue(), 16);
  }
  return bytes;
}

void limit(llvm::CallInst& call, const Entry& entry, Reports& reports) {
  llvm::IRBuilder<> builder(&call);
  llvm::MDNode* unlikely = llvm::MDBuilder(builder.getContext()).createUnlikelyBranchWeights();
  Value* stack = builder.CreatePtrToInt(builder.CreateStackSave(), builder.getInt64Ty());
  Value* left = builder.CreateSub(stack, call.getArgOperand(call.arg_size() - 1));
  Value* is_short = builder.CreateICmpSLT(left, builder.getInt64(stack_bytes_of(*call.getCalledFunction())));
  llvm::Instruction* fail =
      llvm::SplitBlockAndInsertIfThen(is_short, call.getIterator(), /*Unreachable=*/true, unlikely);
  builder.SetInsertPoint(fail);
  reports.write(builder, Failure::stack, call);
  fail->eraseFromParent();

  builder.SetInsertPoint(&call);
  Value* clock = builder.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_clock, {});
  Value* ticks = builder.CreateAnd(builder.CreateLShr(clock, ticks_shift), builder.getInt32(calls_between - 1));
  Value* is_due = builder.CreateICmpEQ(ticks, builder.getInt32(0));
  end_if_stopped(*llvm::SplitBlockAndInsertIfThen(is_due, call.getIterator(), /*Unreachable=*/false, unlikely), entry);
}

}  // namespace

void limit_recursion(llvm::ArrayRef<Entry> functions, Reports& reports) {
  for (const Entry& entry : functions) {
    llvm::SmallVector<llvm::CallInst*, 8> calls;
    for (llvm::Instruction& instruction : llvm::instructions(*entry.function)) {
      if (ir::called_definition(instruction)) calls.push_back(llvm::cast<llvm::CallInst>(&instruction));
    }
    for (llvm::CallInst* call : calls) limit(*call, entry, reports);
  }
}

}  // namespace metalloid::engines::cuda
