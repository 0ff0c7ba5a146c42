#include "engines/cuda/passes/gather_lanes.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engines/cuda/kernel_abi.h"
#include "ir/masked_operations.h"
#include "metalloid/reflection.h"
#include "support/address_spaces.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

bool is_meeting(const llvm::CallInst& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee) return false;
  const std::string_view name = callee->getName();
  return name.starts_with(ir::masked_prefix) || name == ir::lanes_where_name || name == ir::lanes_least_name;
}

llvm::SmallVector<llvm::CallInst*, 8> meetings_of(llvm::Function& function) {
  llvm::SmallVector<llvm::CallInst*, 8> meetings;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call && is_meeting(*call)) meetings.push_back(call);
  }
  return meetings;
}

class Gathering {
 public:
  explicit Gathering(llvm::Module& module) : builder_(module.getContext()) {
    auto* type = llvm::ArrayType::get(builder_.getInt32Ty(), max_threads_per_threadgroup);
    waiting_ = new llvm::GlobalVariable(module, type, /*isConstant=*/false, llvm::GlobalValue::InternalLinkage,
                                        llvm::PoisonValue::get(type), "lanes_waiting", /*InsertBefore=*/nullptr,
                                        llvm::GlobalValue::NotThreadLocal, threadgroup_space);
  }

  // All lanes of a warp begin together.
  void begin(llvm::Function& kernel) {
    builder_.SetInsertPoint(kernel.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    say(own_place(), builder_.getInt32(0));
    together(builder_.getInt32(~std::uint32_t{0}));
  }

  void wait_for(const Entry& entry, llvm::CallInst& meeting) {
    Value* mask = meeting.getArgOperand(0);
    builder_.SetInsertPoint(&meeting);
    Value* thread = index_in_block(builder_, LaneOrder::plain);
    Value* own = place(thread);
    Value* first = builder_.CreateAnd(thread, builder_.getInt32(~std::uint32_t{31}));
    say(own, mask);

    llvm::BasicBlock* before = meeting.getParent();
    llvm::BasicBlock* behind = llvm::SplitBlock(before, meeting.getIterator());
    const auto block = [&](const char* name) {
      return llvm::BasicBlock::Create(builder_.getContext(), name, before->getParent(), behind);
    };
    llvm::BasicBlock *look = block("lane.look"), *failed = block("lane.failed"), *leave = block("lane.leave"),
                     *next = block("lane.next");
    before->getTerminator()->setSuccessor(0, look);

    builder_.SetInsertPoint(look);
    llvm::PHINode* left = builder_.CreatePHI(builder_.getInt32Ty(), 3, "lanes.left");
    Value* lane = builder_.CreateBinaryIntrinsic(intrinsic::cttz, left, builder_.getTrue());
    Value* said =
        builder_.CreateLoad(builder_.getInt32Ty(), place(builder_.CreateAdd(first, lane)), /*isVolatile=*/true);
    builder_.CreateCondBr(builder_.CreateICmpEQ(said, mask), next, failed);

    builder_.SetInsertPoint(failed);
    Value* host = load_from_head(builder_, entry, offsetof(LaunchHead, host), builder_.getPtrTy(device_space));
    Value* is_reported = builder_.CreateLoad(
        builder_.getInt32Ty(),
        builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), host, offsetof(HostWords, is_reported)),
        /*isVolatile=*/true);
    builder_.CreateCondBr(builder_.CreateICmpEQ(is_reported, builder_.getInt32(0)), look, leave);

    builder_.SetInsertPoint(leave);
    builder_.CreateIntrinsic(intrinsic::nvvm_exit, {});
    builder_.CreateUnreachable();

    builder_.SetInsertPoint(next);
    Value* rest = builder_.CreateAnd(left, builder_.CreateSub(left, builder_.getInt32(1)));
    builder_.CreateCondBr(builder_.CreateICmpEQ(rest, builder_.getInt32(0)), behind, look);
    left->addIncoming(mask, before);
    left->addIncoming(left, failed);
    left->addIncoming(rest, next);

    builder_.SetInsertPoint(&meeting);
    together(mask);
    say(own, builder_.getInt32(0));
    together(mask);
  }

 private:
  // Checks of bounds see that it lies inside.
  Value* place(Value* thread) {
    Value* within = builder_.CreateAnd(thread, builder_.getInt32(max_threads_per_threadgroup - 1));
    return builder_.CreateInBoundsGEP(builder_.getInt32Ty(), waiting_, within);
  }
  Value* own_place() { return place(index_in_block(builder_, LaneOrder::plain)); }
  void say(Value* own, Value* word) { builder_.CreateStore(word, own, /*isVolatile=*/true); }
  void together(Value* mask) { builder_.CreateIntrinsic(intrinsic::nvvm_bar_warp_sync, {mask}); }

  llvm::IRBuilder<> builder_;
  llvm::GlobalVariable* waiting_ = nullptr;
};

}  // namespace

void gather_lanes(llvm::Module& module, llvm::ArrayRef<Entry> functions) {
  std::optional<Gathering> gathering;
  for (const Entry& entry : functions.drop_front()) {
    for (llvm::CallInst* meeting : meetings_of(*entry.function)) {
      if (!gathering) gathering.emplace(module);
      gathering->wait_for(entry, *meeting);
    }
  }
  if (gathering) gathering->begin(*functions.front().function);
}

}  // namespace metalloid::engines::cuda
