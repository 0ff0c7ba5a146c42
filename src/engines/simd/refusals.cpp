#include "engines/simd/refusals.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engines/simd/remarks.h"
#include "ir/operations.h"
#include "ir/support/pass_down.h"
#include "ir/tiles.h"

namespace metalloid::engines::simd {
namespace {

using llvm::BasicBlock;

Remark remark_at(const llvm::Instruction& instruction, std::string reason) {
  return simd::remark_at(instruction.getDebugLoc(), std::move(reason));
}

constexpr std::uint64_t most_variable_bytes = std::uint64_t{1} << 20;

// Code has lines, variables have none.
const llvm::Instruction* first_use(const llvm::AllocaInst& variable) {
  for (const llvm::User* user : variable.users()) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
    if (instruction && instruction->getDebugLoc()) return instruction;
  }
  return &variable;
}

const llvm::CallInst* barrier_in(const BasicBlock& block) {
  for (const llvm::Instruction& instruction : block) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
    if (callee && callee->getName() == llvm::StringRef(ir::threadgroup_barrier_name)) return call;
  }
  return nullptr;
}

// The blocks with the barriers that a lane may come to next.
std::set<const BasicBlock*> next_barriers(const BasicBlock* start) {
  std::set<const BasicBlock*> found;
  llvm::SmallPtrSet<const BasicBlock*, 16> seen = {start};
  std::vector<const BasicBlock*> open = {start};
  while (!open.empty()) {
    const BasicBlock* block = open.back();
    open.pop_back();
    if (barrier_in(*block)) {
      found.insert(block);
      continue;
    }
    for (const BasicBlock* next : llvm::successors(block)) {
      if (seen.insert(next).second) open.push_back(next);
    }
  }
  return found;
}

}  // namespace

namespace {

// Addresses of what threads hold together.
llvm::SmallVector<const llvm::Value*, 3> held_tiles(const llvm::CallBase& call) {
  llvm::SmallVector<const llvm::Value*, 3> addresses;
  for (const ir::Tile& tile : ir::tiles_of(call)) {
    if (tile.is_held && !ir::is_of_thread(tile)) addresses.push_back(tile.address);
  }
  return addresses;
}

// What a function that stays a call must not do.
std::optional<Remark> refusal_in_call(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee) return remark_at(call, "a function is called through a pointer here");
  if (callee->getName() == llvm::StringRef(ir::threadgroup_barrier_name)) {
    return remark_at(call, "a threadgroup barrier in a function that could not be inlined");
  }
  if (ir::parse_matrix_operation(std::string_view(callee->getName()))) {
    return remark_at(call, "an operation of simdgroup matrices in a function that could not be inlined");
  }
  if (!held_tiles(call).empty()) {
    return remark_at(call, "an operation of cooperative tensors in a function that could not be inlined");
  }
  return std::nullopt;
}

}  // namespace

std::optional<Remark> refusal(const llvm::Module& module, llvm::StringRef kernel) {
  llvm::SmallPtrSet<const llvm::Function*, 16> only_called;
  for (const llvm::Function& function : module) {
    if (function.isDeclaration() || ir::is_only_called(function)) only_called.insert(&function);
  }
  for (const llvm::Function& function : module) {
    const bool stays = function.getName() != kernel;
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
        const llvm::Function* callee = call->getCalledFunction();
        if (!only_called.contains(callee)) {
          return remark_at(*call, "a function is called through a pointer here");
        }
        auto remark = stays ? refusal_in_call(*call) : std::nullopt;
        if (remark) return remark;
      }
      if (const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
        if (!variable->isStaticAlloca()) return remark_at(*variable, "a variable whose size is not a constant");
        const auto bytes = variable->getAllocationSize(module.getDataLayout());
        if (bytes && bytes->getFixedValue() > most_variable_bytes) {
          return remark_at(*first_use(*variable), "a variable of more than 1 MiB, which 32 lanes would have at a time");
        }
      }
    }
  }
  return std::nullopt;
}

std::optional<Remark> refusal(llvm::Function& lane, const LaneShapes& shapes) {
  for (const llvm::Instruction& instruction : llvm::instructions(lane)) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    for (const llvm::Value* address : call ? held_tiles(*call) : llvm::SmallVector<const llvm::Value*, 3>()) {
      if (shapes.of(*address).kind == Shape::Kind::strided) continue;
      return remark_at(*call, "it is not known which cooperative tensor this is about");
    }
  }
  bool has_barrier = false;
  for (const BasicBlock& block : lane) has_barrier |= barrier_in(block) != nullptr;
  if (!has_barrier) return std::nullopt;
  for (const BasicBlock& block : lane) {
    if (!shapes.diverges_behind(block)) continue;
    std::set<const BasicBlock*> common;
    for (const BasicBlock* way : llvm::successors(&block)) {
      const auto barriers = next_barriers(way);
      if (barriers.empty()) continue;  // its lanes end
      if (!common.empty() && common != barriers) {
        return remark_at(*barrier_in(**barriers.begin()),
                         "lanes of a simdgroup may come to different threadgroup barriers");
      }
      common = barriers;
    }
  }
  return std::nullopt;
}

}  // namespace metalloid::engines::simd
