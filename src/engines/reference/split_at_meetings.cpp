#include "engines/reference/split_at_meetings.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <cstddef>
#include <string_view>

#include "engines/cpu_shared/passes/split_at_stops.h"
#include "engines/reference/meeting_abi.h"

namespace metalloid::engines::reference {
namespace {

using llvm::CallInst;
using llvm::IRBuilder;
using llvm::Value;

bool is_meeting(const CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee) return false;
  const std::string_view name = callee->getName();
  return name == cross_lane_name || name == barrier_name;
}

}  // namespace

std::optional<std::uint32_t> split_at_meetings(llvm::Module& module, llvm::Function& entry,
                                               llvm::TargetMachine& machine) {
  cpu::Stops stops;
  stops.frame_alignment = frame_alignment;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<CallInst>(&instruction);
      if (!call || !is_meeting(*call)) continue;
      if (&function != &entry) return std::nullopt;
      stops.calls.push_back(call);
    }
  }
  llvm::BasicBlock& first = entry.getEntryBlock();
  IRBuilder<> start(&first, first.getFirstNonPHIOrDbgOrAlloca());
  Value* lane = start.CreateLoad(start.getPtrTy(), start.CreateConstInBoundsGEP1_64(start.getInt8Ty(), entry.getArg(0),
                                                                                    offsetof(ThreadgroupState, lane)));
  const auto place = [&](IRBuilder<>& builder, std::size_t offset) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), lane, offset);
  };
  stops.leave = [&](IRBuilder<>& builder, CallInst& call) {
    builder.CreateStore(call.getArgOperand(1), place(builder, offsetof(LaneBoard, sites)));
    if (call.getCalledFunction()->getName() != llvm::StringRef(cross_lane_name)) return;
    // LLVM drops the stores of what the operation does not have.
    builder.CreateStore(call.getArgOperand(2), place(builder, offsetof(LaneBoard, values)));
    builder.CreateStore(call.getArgOperand(3), place(builder, offsetof(LaneBoard, operands)));
    builder.CreateStore(call.getArgOperand(4), place(builder, offsetof(LaneBoard, addends)));
  };
  stops.take_up = [&](IRBuilder<>& builder, CallInst& call) {
    return builder.CreateLoad(call.getType(), place(builder, offsetof(LaneBoard, values)));
  };
  stops.end = [&](IRBuilder<>& builder) {
    builder.CreateStore(llvm::ConstantPointerNull::get(builder.getPtrTy()), place(builder, offsetof(LaneBoard, sites)));
  };
  return cpu::split_at_stops(module, entry, stops, machine);
}

}  // namespace metalloid::engines::reference
