// lower_lanes
//
//   %present = metalloid.lanes.present()                 the warp's lanes that the threadgroup has
//   %some = metalloid.lanes.where(%present, %c)     ->   vote.sync.ballot
//   %s = metalloid.masked.simd.shuffle.b32(%m, %x, %i)   shfl.sync.idx, of lanes that are there
//   metalloid.masked.threadgroup_barrier(%m, ...)        bar.warp.sync, barrier.sync 0, and fences as it says
//   metalloid.threadgroup_barrier(...)                   the same without the first
#include "engines/cuda/passes/lower_lanes.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "engines/cuda/lanes/exchange.h"
#include "engines/cuda/lanes/fragments.h"
#include "engines/cuda/lanes/matrices.h"
#include "engines/cuda/lanes/reductions.h"
#include "engines/cuda/passes/lower_order.h"
#include "ir/masked_operations.h"
#include "ir/operations.h"
#include "ir/passes/normalise_attributes.h"
#include "metalloid/error.h"

namespace metalloid::engines::cuda {
namespace {

using ir::CrossLane;
using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

class LaneLowering {
 public:
  LaneLowering(llvm::Module& module, const Entry& entry)
      : module_(module), order_(entry.lane_order), builder_(module.getContext()) {
    auto* index = llvm::cast<llvm::Instruction>(entry.simdgroups_are_whole ? entry.thread_index : entry.threads);
    builder_.SetInsertPoint(index->getNextNode());
    lane_ = builder_.CreateAnd(entry.thread_index, builder_.getInt32(31), "lane");
    lanes_[entry.function] = lane_;
    if (entry.simdgroups_are_whole) {
      present_ = builder_.getInt32(~std::uint32_t{0});
      return;
    }
    Value* before = builder_.CreateAnd(entry.thread_index, builder_.getInt32(~std::uint32_t{31}));
    Value* rest = builder_.CreateSub(entry.threads, before);
    Value* are_all = builder_.CreateICmpUGE(rest, builder_.getInt32(32));
    Value* some = builder_.CreateNot(
        builder_.CreateShl(builder_.getInt32(~std::uint32_t{0}), builder_.CreateAnd(rest, builder_.getInt32(31))));
    present_ = builder_.CreateSelect(are_all, builder_.getInt32(~std::uint32_t{0}), some, "present");
  }

  void run() {
    llvm::SmallVector<llvm::CallInst*, 16> calls;
    llvm::SmallVector<llvm::Function*, 16> operations;
    for (llvm::Function& function : module_) {
      const std::string_view name = function.getName();
      const bool is_one = name.starts_with(ir::masked_prefix) || name == ir::threadgroup_barrier_name ||
                          name == ir::lanes_present_name || name == ir::lanes_where_name ||
                          name == ir::lanes_least_name;
      if (!is_one) continue;
      operations.push_back(&function);
      for (llvm::User* user : function.users()) calls.push_back(llvm::cast<llvm::CallInst>(user));
    }
    for (llvm::CallInst* call : calls) {
      find_lane(*call->getFunction());
      builder_.SetInsertPoint(call);
      Value* result = lower(*call, call->getCalledFunction()->getName());
      if (result) call->replaceAllUsesWith(result);
      call->eraseFromParent();
    }
    for (llvm::Function* operation : operations) operation->eraseFromParent();
  }

 private:
  // In functions that stay calls, from the registers again.
  void find_lane(llvm::Function& function) {
    Value*& lane = lanes_[&function];
    if (!lane) {
      llvm::BasicBlock& first = function.getEntryBlock();
      builder_.SetInsertPoint(&first, first.getFirstNonPHIOrDbgOrAlloca());
      lane = builder_.CreateAnd(index_in_block(builder_, order_), builder_.getInt32(31), "lane");
    }
    lane_ = lane;
  }

  Value* lower(llvm::CallInst& call, std::string_view name) {
    if (name == ir::lanes_present_name) return present_;
    if (name == ir::threadgroup_barrier_name) {
      barrier(call, nullptr, /*of_threadgroup=*/true);
      return nullptr;
    }
    const Lanes lanes(builder_, call.getArgOperand(0), lane_, order_);
    if (name == ir::lanes_where_name) return lanes.where(call.getArgOperand(1));
    if (name == ir::lanes_least_name) {
      return builder_.CreateIntrinsic(intrinsic::nvvm_redux_sync_umin, {call.getArgOperand(1), lanes.mask()});
    }
    const std::string plain = std::string(ir::operation_prefix) + std::string(name.substr(ir::masked_prefix.size()));
    if (plain == ir::threadgroup_barrier_name || plain == ir::simdgroup_barrier_name) {
      barrier(call, &lanes, plain == ir::threadgroup_barrier_name);
      return nullptr;
    }
    const llvm::SmallVector<Value*, 3> operands(llvm::drop_begin(call.args()));
    if (const auto matrix = ir::parse_matrix_operation(plain)) return operate_on_matrices(lanes, *matrix, operands);
    const ir::Operation* operation = ir::find_operation(plain);
    if (operation && is_fragment_load(*operation)) return load_fragment(lanes, *call.getType(), operands);
    if (operation && !operation->whole.empty()) {  // all lanes come; for lower_tiles
      builder_.CreateCall(ir::declare_operation(module_, plain), operands)->setConvergent();
      return nullptr;
    }
    if (const auto exchange = ir::parse_cross_lane(plain)) return cross(lanes, *exchange, operands);
    throw Error(ErrorCode::internal, "no such operation across lanes: " + plain);
  }

  // Lanes that have come may be apart for the hardware still. Without lanes, each thread comes for itself.
  void barrier(llvm::CallInst& call, const Lanes* lanes, bool of_threadgroup) {
    const ir::MemoryOrdering ordering(call, /*first=*/lanes ? 1 : 0);
    const bool is_seen_by_others = !ordering.is_none() && !ordering.is_within_threadgroup();
    if (is_seen_by_others) create_fence(builder_, ordering);
    if (lanes) builder_.CreateIntrinsic(intrinsic::nvvm_bar_warp_sync, {lanes->mask()});
    if (of_threadgroup) builder_.CreateIntrinsic(intrinsic::nvvm_barrier_cta_sync_all, {builder_.getInt32(0)});
    if (is_seen_by_others) create_fence(builder_, ordering);
  }

  Value* cross(const Lanes& lanes, const ir::CrossLaneOperation& kind, llvm::ArrayRef<Value*> operands) {
    const std::uint32_t width = kind.group == ir::LaneGroup::quad ? 4 : 32;
    switch (kind.operation) {
      case CrossLane::ballot: {
        Value* votes = lanes.in_metals_order(lanes.where(operands[0]));
        if (width == 4) votes = builder_.CreateAnd(builder_.CreateLShr(votes, first_of_group(width)), 15);
        return builder_.CreateZExt(votes, builder_.getInt64Ty());
      }
      case CrossLane::broadcast_first: {
        Value* group = lanes.in_metals_order(lanes.mask());
        if (width == 4) {
          group = builder_.CreateAnd(group, builder_.CreateShl(lanes.number(15), first_of_group(width)));
        }
        return lanes.from(operands[0], builder_.CreateBinaryIntrinsic(intrinsic::cttz, group, builder_.getFalse()));
      }
      case CrossLane::broadcast:
      case CrossLane::shuffle:
      case CrossLane::shuffle_up:
      case CrossLane::shuffle_down:
      case CrossLane::shuffle_xor:
      case CrossLane::rotate_up:
      case CrossLane::rotate_down: {
        Value* source = source_of(kind.operation, operands[1], width);
        source = builder_.CreateSelect(lanes.has(source), source, lane_);
        return lanes.from(operands[0], source);
      }
      default: return reduce(lanes, kind, operands[0]);
    }
  }

  Value* first_of_group(std::uint32_t width) { return builder_.CreateAnd(lane_, builder_.getInt32(~(width - 1))); }

  // The lane that a lane reads, or a number of at least 32 for none. All arithmetic stays within the lane's group.
  Value* source_of(CrossLane operation, Value* operand, std::uint32_t width) {
    const auto number = [&](std::uint32_t value) { return builder_.getInt32(value); };
    Value* first = first_of_group(width);
    Value* within = builder_.CreateAnd(lane_, number(width - 1));
    Value* none = number(32);
    const auto only_if = [&](Value* condition, Value* source) {
      return builder_.CreateSelect(condition, source, none);
    };
    switch (operation) {
      case CrossLane::shuffle_up:
        return only_if(builder_.CreateICmpULE(operand, within), builder_.CreateSub(lane_, operand));
      case CrossLane::shuffle_down:
        return only_if(builder_.CreateICmpULT(operand, builder_.CreateSub(number(width), within)),
                       builder_.CreateAdd(lane_, operand));
      case CrossLane::shuffle_xor:
        return only_if(builder_.CreateICmpULT(operand, number(width)),
                       builder_.CreateOr(first, builder_.CreateXor(within, operand)));
      case CrossLane::rotate_up:
        return builder_.CreateOr(first, builder_.CreateAnd(builder_.CreateSub(within, operand), number(width - 1)));
      case CrossLane::rotate_down:
        return builder_.CreateOr(first, builder_.CreateAnd(builder_.CreateAdd(within, operand), number(width - 1)));
      default:  // broadcast, shuffle
        return only_if(builder_.CreateICmpULT(operand, number(width)), builder_.CreateOr(first, operand));
    }
  }

  llvm::Module& module_;
  const LaneOrder order_;
  llvm::IRBuilder<> builder_;
  Value *lane_ = nullptr, *present_ = nullptr;
  llvm::DenseMap<llvm::Function*, Value*> lanes_;
};

}  // namespace

void lower_lanes(llvm::Module& module, const Entry& entry) { LaneLowering(module, entry).run(); }

}  // namespace metalloid::engines::cuda
