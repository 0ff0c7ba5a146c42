// How the threads of a launch become Metal's.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "engines/cuda/lanes/lane_order.h"
#include "ir/support/builtin_values.h"

namespace metalloid::engines::cuda {

struct Entry;

enum class Placement : std::uint8_t {
  by_threadgroup,        // a block is a threadgroup
  by_whole_threadgroup,  // the same, and all are alike, of whole simdgroups
  in_grid,               // blocks of any shape lie over the grid: for threads that have nothing to do with each other
};

// Which blocks are which threadgroups, where a block is one and all are alike. in_strips: threadgroups that run at the
// same time lie in a square, so that those of a product of matrices read the same rows and columns.
enum class GroupOrder : std::uint8_t { plain, in_strips };

// Where a thread lies, from the builder's place on, at the beginning of the entry. Threads that Metal does not have end
// there. Fills in the entry's thread_index, threads and thread_x.
ir::ThreadPlace place_thread(llvm::IRBuilder<>& builder, Entry& entry, Placement placement);

// The same for a report, at the builder's place, when passes may have dropped what nothing used: the thread's index in
// its threadgroup, and that one's position.
struct ReportedPlace {
  llvm::Value* index;
  std::array<llvm::Value*, 3> group;
};
ReportedPlace place_again(llvm::IRBuilder<>& builder, const Entry& entry);

// Of a block that is a threadgroup, the thread's index as Metal counts.
llvm::Value* index_in_block(llvm::IRBuilderBase& builder, LaneOrder order);

// i32 (), of Entry::thread_x.
inline constexpr std::string_view thread_x_name = "metalloid_thread_x";

// What only computes.
void mark_pure(llvm::Function& function);

}  // namespace metalloid::engines::cuda
