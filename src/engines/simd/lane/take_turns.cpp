#include "engines/simd/lane/take_turns.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <string_view>
#include <vector>

#include "engines/simd/run/simdgroup_abi.h"
#include "ir/operations.h"
#include "support/address_spaces.h"

namespace metalloid::engines::simd {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;

std::string_view callee_name(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee ? std::string_view(callee->getName()) : std::string_view();
}

bool is_barrier(const Instruction& instruction) { return callee_name(instruction) == ir::threadgroup_barrier_name; }

bool reads(const Instruction& instruction) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  return load && load->getPointerAddressSpace() == threadgroup_space;
}

bool writes(const Instruction& instruction) {
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  return store && store->getPointerAddressSpace() == threadgroup_space;
}

// Whether something has happened (or will happen) on some way since (or before) a barrier, per block's start (or end).
using Facts = llvm::DenseMap<const BasicBlock*, bool>;

bool through(const BasicBlock& block, bool fact) {
  for (const Instruction& instruction : block) {
    if (is_barrier(instruction)) fact = false;
    if (reads(instruction)) fact = true;
  }
  return fact;
}

bool back_through(const BasicBlock& block, bool fact) {
  for (const Instruction& instruction : llvm::reverse(block)) {
    if (is_barrier(instruction)) fact = false;
    if (writes(instruction)) fact = true;
  }
  return fact;
}

}  // namespace

void take_turns(llvm::Function& lane) {
  Facts has_read, will_write;
  for (bool changed = true; changed;) {
    changed = false;
    for (const BasicBlock& block : lane) {
      const bool read = llvm::any_of(llvm::predecessors(&block),
                                     [&](const BasicBlock* from) { return through(*from, has_read[from]); });
      const bool write = llvm::any_of(llvm::successors(&block),
                                      [&](const BasicBlock* to) { return back_through(*to, will_write[to]); });
      changed |= has_read[&block] != read || will_write[&block] != write;
      has_read[&block] = read;
      will_write[&block] = write;
    }
  }
  std::vector<Instruction*> places;
  for (BasicBlock& block : lane) {
    std::vector<bool> write_follows;
    bool write = will_write[&block];
    for (const Instruction& instruction : llvm::reverse(block)) {
      write_follows.push_back(write);
      if (is_barrier(instruction)) write = false;
      if (writes(instruction)) write = true;
    }
    bool read = has_read[&block];
    std::size_t left = write_follows.size();
    for (Instruction& instruction : block) {
      --left;
      if (read && write_follows[left] && ir::parse_cross_lane(callee_name(instruction))) places.push_back(&instruction);
      if (is_barrier(instruction)) read = false;
      if (reads(instruction)) read = true;
    }
  }
  for (Instruction* place : places) {
    llvm::IRBuilder<> builder(place->getNextNode());
    auto yield = lane.getParent()->getOrInsertFunction(llvm::StringRef(yield_name), builder.getVoidTy());
    auto* declaration = llvm::cast<llvm::Function>(yield.getCallee());
    declaration->setConvergent();
    declaration->setDoesNotThrow();
    builder.CreateCall(yield);
  }
}

}  // namespace metalloid::engines::simd
