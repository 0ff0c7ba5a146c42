// Turns a function into one that stops at certain calls by returning, and can be resumed behind them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace metalloid::engines::cpu {

struct Stops {
  std::vector<llvm::CallInst*> calls;  // all in the function
  // Code in front of the return at a call; what the call's value is when the function goes on (never asked for if it
  // has none); and code in front of the function's own returns.
  std::function<void(llvm::IRBuilder<>&, llvm::CallInst&)> leave;
  std::function<llvm::Value*(llvm::IRBuilder<>&, llvm::CallInst&)> take_up;
  std::function<void(llvm::IRBuilder<>&)> end;
  std::uint32_t frame_alignment;
  // Instructions that may be there twice, if they run both in front of all stops and behind one.
  unsigned most_repeated = 1000;
};

// The work is LLVM's: the function becomes a coroutine of its "switched-resume" kind (moved_coroutine.h). What it needs
// later lies in a frame, in memory that the engine brings (ThreadgroupState::frame; the state is the function's first
// parameter) and that begins with the function to resume it by. A stop costs a return, going on a call, its stores and
// loads; no stack is switched.
//
// Runs behind all optimisation, which so far saw calls of unknown functions, and behind lower_private_memory: frames
// hold values only. Returns the bytes of a frame.
std::uint32_t split_at_stops(llvm::Module& module, llvm::Function& entry, const Stops& stops,
                             llvm::TargetMachine& machine);

}  // namespace metalloid::engines::cpu
