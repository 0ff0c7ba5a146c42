// fetch_ahead
//
//   loop:
//     %x = load i64, ptr %p               ; %p is 288 bytes further in the next turn
// ->
//   loop:
//     call void @llvm.prefetch(ptr %p + 2 * 288, ...)
//     %x = load i64, ptr %p
//
// Processors follow a row that is read from end to end by themselves, and within a page of 4 KiB. Of rows that end
// after some KiB, several of which are read at a time, they bring what comes next too late: a product with weights of 4
// bits waited for memory in half of its time. What lanes read in one turn are few lines of memory
// (widening/memory.cpp).
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/MathExtras.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "engines/simd/lane/prepare_lane.h"
#include "ir/support/pass_managers.h"
#include "support/address_spaces.h"

namespace metalloid::engines::simd {
namespace {

// Of the lane's instructions, while memory answers.
constexpr std::uint64_t instructions_ahead = 800;
constexpr std::uint64_t most_turns_ahead = 16;
// Bytes from one turn to the next: less is a row that processors follow, more are lines that have little in common.
constexpr std::int64_t least_step = 64, most_step = 2048;
// Loads that lie closer are brought together.
constexpr std::int64_t close = 512;
constexpr std::size_t most_in_loop = 8;

struct Stream {
  llvm::LoadInst* load;
  const llvm::SCEVAddRecExpr* place;
  std::int64_t step;
};

class FetchAhead {
 public:
  explicit FetchAhead(llvm::Function& lane)
      : loops_(managers_.functions.getResult<llvm::LoopAnalysis>(lane)),
        evolution_(managers_.functions.getResult<llvm::ScalarEvolutionAnalysis>(lane)) {}

  void run() {
    for (llvm::Loop* loop : loops_.getLoopsInPreorder()) {
      if (loop->isInnermost()) fetch_in(*loop);
    }
  }

 private:
  void fetch_in(llvm::Loop& loop) {
    std::uint64_t size = 0;
    llvm::SmallVector<Stream, 8> streams;
    for (llvm::BasicBlock* block : loop.blocks()) {
      size += block->size();
      for (llvm::Instruction& instruction : *block) {
        if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) take(*load, loop, streams);
      }
    }
    if (streams.size() > most_in_loop) return;
    const std::uint64_t turns = std::clamp<std::uint64_t>(
        llvm::divideCeil(instructions_ahead, std::max<std::uint64_t>(size, 1)), 1, most_turns_ahead);
    for (const Stream& stream : streams) {
      llvm::IRBuilder<> builder(stream.load);
      llvm::Value* pointer = stream.load->getPointerOperand();
      llvm::Value* ahead = builder.CreateGEP(builder.getInt8Ty(), pointer,
                                             builder.getInt64(static_cast<std::uint64_t>(stream.step) * turns));
      builder.CreateIntrinsic(llvm::Intrinsic::prefetch, {pointer->getType()},
                              {ahead, builder.getInt32(0), builder.getInt32(3), builder.getInt32(1)});
    }
  }

  void take(llvm::LoadInst& load, const llvm::Loop& loop, llvm::SmallVectorImpl<Stream>& streams) {
    const unsigned space = load.getPointerAddressSpace();
    if (!load.isSimple() || (space != device_space && space != constant_space)) return;
    const auto* place = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution_.getSCEV(load.getPointerOperand()));
    if (!place || place->getLoop() != &loop || !place->isAffine()) return;
    const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(place->getStepRecurrence(evolution_));
    if (!step) return;
    const std::int64_t bytes = step->getAPInt().getSExtValue();
    if (std::abs(bytes) < least_step || std::abs(bytes) > most_step) return;
    const bool is_known = llvm::any_of(streams, [&](const Stream& other) {
      const llvm::SCEV* apart = evolution_.getMinusSCEV(place, other.place);
      if (llvm::isa<llvm::SCEVCouldNotCompute>(apart)) return false;
      const llvm::ConstantRange range = evolution_.getSignedRange(apart);
      return range.getSignedMin().sgt(-close) && range.getSignedMax().slt(close);
    });
    if (!is_known) streams.push_back({&load, place, bytes});
  }

  ir::PassManagers managers_;
  llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
};

}  // namespace

void fetch_ahead(llvm::Function& lane) { FetchAhead(lane).run(); }

}  // namespace metalloid::engines::simd
