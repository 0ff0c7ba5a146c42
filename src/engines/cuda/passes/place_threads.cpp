#include "engines/cuda/passes/place_threads.h"

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>

#include <cstddef>

#include "engines/cuda/kernel_abi.h"
#include "engines/cuda/passes/lower_arguments.h"

namespace metalloid::engines::cuda {
namespace {

using ir::Triple;
using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

constexpr std::array<intrinsic::ID, 3> thread_registers = {
    intrinsic::nvvm_read_ptx_sreg_tid_x, intrinsic::nvvm_read_ptx_sreg_tid_y, intrinsic::nvvm_read_ptx_sreg_tid_z};
constexpr std::array<intrinsic::ID, 3> size_registers = {
    intrinsic::nvvm_read_ptx_sreg_ntid_x, intrinsic::nvvm_read_ptx_sreg_ntid_y, intrinsic::nvvm_read_ptx_sreg_ntid_z};
constexpr std::array<intrinsic::ID, 3> group_registers = {intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                                                          intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                                          intrinsic::nvvm_read_ptx_sreg_ctaid_z};

Value* add(llvm::IRBuilderBase& builder, Value* a, Value* b) { return builder.CreateAdd(a, b, "", /*HasNUW=*/true); }
Value* multiply(llvm::IRBuilderBase& builder, Value* a, Value* b) {
  return builder.CreateMul(a, b, "", /*HasNUW=*/true);
}

Triple registers(llvm::IRBuilderBase& builder, const std::array<intrinsic::ID, 3>& names) {
  Triple result;
  for (unsigned d = 0; d < 3; ++d) result[d] = builder.CreateIntrinsic(names[d], {});
  return result;
}

Value* index_of(llvm::IRBuilderBase& builder, const Triple& position, const Triple& size) {
  Value* rows = add(builder, position[1], multiply(builder, size[1], position[2]));
  return add(builder, position[0], multiply(builder, size[0], rows));
}

Value* volume(llvm::IRBuilderBase& builder, const Triple& size) {
  return multiply(builder, multiply(builder, size[0], size[1]), size[2]);
}

Triple from_head(llvm::IRBuilderBase& builder, const Entry& entry, std::size_t offset) {
  Triple result;
  for (unsigned d = 0; d < 3; ++d) {
    result[d] = load_from_head(builder, entry, offset + 4 * d, builder.getInt32Ty());
  }
  return result;
}

// Rows of threadgroups that go side by side, so that some hundred at a time are about as high as wide.
constexpr std::uint32_t strip_rows = 16;

// Blocks come row by row. In a strip of rows, threadgroups come column by column.
Triple group_of_block(llvm::IRBuilderBase& builder, const Entry& entry) {
  const Triple block = registers(builder, group_registers);
  if (entry.group_order == GroupOrder::plain) return block;
  const Triple groups = from_head(builder, entry, offsetof(LaunchHead, threadgroups_per_grid));
  Value* rows_at_once = builder.getInt32(strip_rows);
  Value* number = builder.CreateAdd(builder.CreateMul(block[1], groups[0]), block[0]);
  Value* of_strip = builder.CreateMul(groups[0], rows_at_once);
  Value* strip = builder.CreateUDiv(number, of_strip);
  Value* first_row = builder.CreateMul(strip, rows_at_once);
  Value* rows = builder.CreateBinaryIntrinsic(intrinsic::umin, rows_at_once, builder.CreateSub(groups[1], first_row));
  Value* within = builder.CreateSub(number, builder.CreateMul(strip, of_strip));
  Value* x = builder.CreateUDiv(within, rows);
  Value* y = builder.CreateAdd(first_row, builder.CreateSub(within, builder.CreateMul(x, rows)));
  // CUDA has at most 65,535 rows of blocks: numbers fit then.
  Value* fits = builder.CreateICmpULE(groups[0], builder.getInt32(0xffff));
  return {builder.CreateSelect(fits, x, block[0]), builder.CreateSelect(fits, y, block[1]), block[2]};
}

// At a builder's place in an entry.
class ThreadPlacer {
 public:
  ThreadPlacer(llvm::IRBuilder<>& builder, Entry& entry) : builder_(builder), entry_(entry) {
    place_.grid = from_head(offsetof(LaunchHead, threads_per_grid));
    place_.groups = from_head(offsetof(LaunchHead, threadgroups_per_grid));
    place_.nominal = from_head(offsetof(LaunchHead, threads_per_threadgroup));
  }

  ir::ThreadPlace by_whole_threadgroup() {
    place_.actual = place_.nominal;
    place_.group = group_of_block(builder_, entry_);
    place_.position = registers(builder_, thread_registers);
    if (entry_.lane_order == LaneOrder::plain) {
      place_.index = index_of(builder_, place_.position, place_.nominal);
    } else {
      place_.index = index_in_block(builder_, entry_.lane_order);
      place_.position = position_of(place_.index, place_.nominal);
    }
    // Nothing else says that sums of these do not wrap.
    place_.index = at_most_a_threadgroup(place_.index);
    for (Value*& position : place_.position) position = at_most_a_threadgroup(position);
    entry_.simdgroups_are_whole = true;
    return place_;
  }

  // Of plain launches a thread lies where CUDA says; of others, only threadgroups at the grid's edge and deep ones have
  // to compute it.
  ir::ThreadPlace by_threadgroup() {
    const Triple block = registers(builder_, group_registers), position = registers(builder_, thread_registers);
    const Triple first = from_head(offsetof(LaunchHead, first_group));
    place_.index = index_in_block(builder_, entry_.lane_order);
    Triple group;
    for (unsigned d = 0; d < 3; ++d) group[d] = add(builder_, first[d], block[d]);
    Value* is_plain = is_set(offsetof(LaunchHead, is_plain));

    llvm::BasicBlock* before = builder_.GetInsertBlock();
    llvm::BasicBlock *cut = new_block("not_plain"), *edge = new_block("edge"), *inside = new_block("inside");
    llvm::BasicBlock *outside = new_block("outside"), *run = new_block("run");
    builder_.CreateCondBr(is_plain, run, cut);

    builder_.SetInsertPoint(cut);
    Value* is_other = is_set(offsetof(LaunchHead, is_folded));
    Triple actual;
    for (unsigned d = 0; d < 3; ++d) {
      Value* rest = builder_.CreateSub(place_.grid[d], multiply(builder_, group[d], place_.nominal[d]));
      actual[d] = builder_.CreateBinaryIntrinsic(intrinsic::umin, place_.nominal[d], rest);
      is_other = builder_.CreateOr(is_other, builder_.CreateICmpNE(actual[d], place_.nominal[d]));
    }
    builder_.CreateCondBr(is_other, edge, run);

    builder_.SetInsertPoint(edge);
    builder_.CreateCondBr(builder_.CreateICmpULT(place_.index, volume(builder_, actual)), inside, outside);
    builder_.SetInsertPoint(outside);
    builder_.CreateRetVoid();
    builder_.SetInsertPoint(inside);
    const Triple own = position_of(place_.index, actual);
    builder_.CreateBr(run);

    builder_.SetInsertPoint(run);
    const auto merged = [&](Value* of_plain, Value* of_whole, Value* of_edge) {
      llvm::PHINode* result = builder_.CreatePHI(builder_.getInt32Ty(), 3);
      result->addIncoming(of_plain, before);
      result->addIncoming(of_whole, cut);
      result->addIncoming(of_edge, inside);
      return result;
    };
    for (unsigned d = 0; d < 3; ++d) place_.position[d] = merged(position[d], position[d], own[d]);
    for (unsigned d = 0; d < 3; ++d) place_.group[d] = merged(block[d], group[d], group[d]);
    for (unsigned d = 0; d < 3; ++d) place_.actual[d] = merged(place_.nominal[d], place_.nominal[d], actual[d]);
    return place_;
  }

  // All of it comes of the place in the grid.
  ir::ThreadPlace in_grid(Value* x) {
    const Triple position = registers(builder_, thread_registers), size = registers(builder_, size_registers);
    const Triple block = registers(builder_, group_registers);
    Triple in_grid = {x};
    for (unsigned d = 1; d < 3; ++d) {
      in_grid[d] = add(builder_, multiply(builder_, block[d], size[d]), position[d]);
    }
    place_.in_grid = in_grid;
    for (unsigned d = 0; d < 3; ++d) {
      place_.group[d] = builder_.CreateUDiv(in_grid[d], place_.nominal[d]);
      Value* first = multiply(builder_, place_.group[d], place_.nominal[d]);
      place_.position[d] = builder_.CreateSub(in_grid[d], first, "", /*HasNUW=*/true);
      place_.actual[d] =
          builder_.CreateBinaryIntrinsic(intrinsic::umin, place_.nominal[d], builder_.CreateSub(place_.grid[d], first));
    }
    place_.index = index_of(builder_, place_.position, place_.actual);
    return place_;
  }

  void end_outside_of_grid() {
    const Triple& own = *place_.in_grid;
    Value* is_inside = builder_.CreateICmpULT(own[0], place_.grid[0]);
    for (unsigned d = 1; d < 3; ++d) {
      is_inside = builder_.CreateAnd(is_inside, builder_.CreateICmpULT(own[d], place_.grid[d]));
    }
    llvm::BasicBlock *outside = new_block("outside"), *run = new_block("run");
    builder_.CreateCondBr(is_inside, run, outside);
    builder_.SetInsertPoint(outside);
    builder_.CreateRetVoid();
    builder_.SetInsertPoint(run);
  }

 private:
  Value* at_most_a_threadgroup(Value* number) {
    return builder_.CreateAnd(number, builder_.getInt32(max_threads_per_threadgroup - 1));
  }

  Triple position_of(Value* index, const Triple& size) {
    Value* rows = builder_.CreateUDiv(index, size[0]);
    return {builder_.CreateURem(index, size[0]), builder_.CreateURem(rows, size[1]),
            builder_.CreateUDiv(rows, size[1])};
  }

  Triple from_head(std::size_t offset) { return cuda::from_head(builder_, entry_, offset); }
  Value* is_set(std::size_t offset) {
    return builder_.CreateICmpNE(load_from_head(builder_, entry_, offset, builder_.getInt32Ty()), builder_.getInt32(0));
  }
  llvm::BasicBlock* new_block(const char* name) {
    return llvm::BasicBlock::Create(builder_.getContext(), name, entry_.function);
  }

  llvm::IRBuilder<>& builder_;
  Entry& entry_;
  ir::ThreadPlace place_{};
};

}  // namespace

ir::ThreadPlace place_thread(llvm::IRBuilder<>& builder, Entry& entry, Placement placement) {
  ThreadPlacer placer(builder, entry);
  ir::ThreadPlace place;
  if (placement == Placement::in_grid) {
    llvm::Module& module = *entry.function->getParent();
    auto callee = module.getOrInsertFunction(llvm::StringRef(thread_x_name), builder.getInt32Ty());
    auto* thread_x = llvm::cast<llvm::Function>(callee.getCallee());
    mark_pure(*thread_x);
    entry.thread_x = builder.CreateCall(thread_x);
    place = placer.in_grid(entry.thread_x);
    placer.end_outside_of_grid();
  } else {
    place = placement == Placement::by_threadgroup ? placer.by_threadgroup() : placer.by_whole_threadgroup();
  }
  entry.thread_index = place.index;
  entry.threads = volume(builder, place.actual);
  return place;
}

ReportedPlace place_again(llvm::IRBuilder<>& builder, const Entry& entry) {
  if (entry.thread_x) {
    Entry same = entry;
    const ir::ThreadPlace place = ThreadPlacer(builder, same).in_grid(entry.thread_x);
    return {place.index, place.group};
  }
  ReportedPlace place{index_in_block(builder, entry.lane_order), group_of_block(builder, entry)};
  for (unsigned d = 0; d < 3; ++d) {
    Value* first = load_from_head(builder, entry, offsetof(LaunchHead, first_group) + 4 * d, builder.getInt32Ty());
    place.group[d] = add(builder, place.group[d], first);
  }
  return place;
}

Value* index_in_block(llvm::IRBuilderBase& builder, LaneOrder order) {
  Value* index = index_of(builder, registers(builder, thread_registers), registers(builder, size_registers));
  if (order == LaneOrder::plain) return index;
  const auto only = [&](std::uint32_t mask) { return builder.CreateAnd(index, builder.getInt32(mask)); };
  return builder.CreateOr(only(~std::uint32_t{31}), metals_lane(builder, only(31), order));
}

void mark_pure(llvm::Function& function) {
  function.setMemoryEffects(llvm::MemoryEffects::none());
  for (const auto attribute : {llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn, llvm::Attribute::Speculatable,
                               llvm::Attribute::NoCallback}) {
    function.addFnAttr(attribute);
  }
}

}  // namespace metalloid::engines::cuda
