// Wraps a kernel, one thread's program with Metal's arguments, into one that the driver launches.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engines/cuda/lanes/lane_order.h"
#include "engines/cuda/passes/place_threads.h"
#include "metalloid/reflection.h"

namespace metalloid::engines::cuda {

//   ptx_kernel void metalloid_kernel(byval parameters)           parameters: LaunchHead, slots, bytes (kernel_abi.h)
//     at the grid's edge: threads that the threadgroup does not have end here, the others get their positions
//     kernel(metalloid_argument(0), ..., position, ...)
//
// The kernel is inlined and disappears. metalloid.thread_index becomes arithmetic. A block of CUDA's is a threadgroup,
// its threads in Metal's order, but for that of a simdgroup's lanes, so that a warp is a simdgroup.
struct Entry {
  llvm::Function* function = nullptr;  // or one that stays a call (pass_parameters.h)
  llvm::Value* parameters = nullptr;   // their address
  // Until passes drop what nothing uses.
  llvm::Value* thread_index = nullptr;  // in its threadgroup
  llvm::Value* threads = nullptr;       // of its threadgroup
  llvm::Value* thread_x = nullptr;      // Placement::in_grid: its x in the grid, a call that join_threads replaces
  bool simdgroups_are_whole = false;
  LaneOrder lane_order = LaneOrder::plain;     // other ones only where simdgroups are whole
  GroupOrder group_order = GroupOrder::plain;  // likewise
  std::uint32_t parameter_bytes = 0;
};
// What code may count on (alignment_of in kernel_abi.h). Hosts bind buffers from any byte on.
enum class ArgumentAlignment : std::uint8_t { none, of_their_types };
Entry lower_arguments(llvm::Module& module, const KernelInfo& info, ArgumentAlignment alignment,
                      Placement placement = Placement::by_threadgroup, LaneOrder lanes = LaneOrder::plain,
                      GroupOrder groups = GroupOrder::plain);

// ptr (i32 argument): where an argument begins, or a tensor's elements do. What checks of bounds see; nobody defines
// them, place_arguments replaces them.
inline constexpr std::string_view argument_name = "metalloid_argument.";
llvm::CallInst* as_argument(llvm::Value& value);
void place_arguments(llvm::Module& module, const Entry& entry, const KernelInfo& info);

// Of an argument of constant memory, which is in the parameters or elsewhere. `is_own`: i1, the former.
struct ConstantPlace {
  llvm::Value *address, *is_own, *elsewhere;  // `elsewhere`: the address if it is not its own
  std::optional<std::uint64_t> place;         // of a reference, where in the parameters it has room
};
ConstantPlace place_of_constant(llvm::IRBuilderBase& builder, const Entry& entry, const KernelInfo& info,
                                unsigned number);

// Of an argument's slot, a member by its offset there, at the builder's place in the entry.
llvm::Value* load_from_slot(llvm::IRBuilderBase& builder, const Entry& entry, unsigned argument, std::size_t member,
                            llvm::Type* type);
llvm::Value* load_from_head(llvm::IRBuilderBase& builder, const Entry& entry, std::size_t member, llvm::Type* type);

}  // namespace metalloid::engines::cuda
