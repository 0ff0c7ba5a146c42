// fetch_ahead
//
//   loop:
//     %x = load i64, ptr %p               ; %p is 288 bytes further in the next turn
// ->
//   call void @llvm.prefetch(ptr %p.in.the.first.turn, ...)
//   call void @llvm.prefetch(ptr %p.in.the.first.turn + 288, ...)
//   loop:
//     call void @llvm.prefetch(ptr %p + 2 * 288, ...)
//     %x = load i64, ptr %p
//
// Processors follow a row that is read from end to end by themselves, and within a page of 4 KiB. Of rows that end
// after some KiB, several of which are read at a time, they bring what comes next too late: a product with weights of 4
// bits waited for memory in half of its time. What lanes read in one turn are few lines of memory
// (widening/memory.cpp). What the first turns read is asked for in front of the loop, of all rows together.
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
#include "engines/simd/lane/whole_turns.h"
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
constexpr std::size_t most_in_front = 16;
constexpr unsigned deepest_address = 12;  // operands below each other

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
    // What the turns before it have asked for is there.
    if (loop.getHeader()->getTerminator()->hasMetadata(llvm::StringRef(rest_of_turns_name))) return;
    std::uint64_t size = 0;
    llvm::SmallVector<Stream, 8> streams;
    for (llvm::BasicBlock* block : loop.blocks()) {
      size += block->size();
      for (llvm::Instruction& instruction : *block) {
        if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) take(*load, loop, streams);
      }
    }
    if (streams.empty() || streams.size() > most_in_loop) return;
    const std::uint64_t turns = std::clamp<std::uint64_t>(
        llvm::divideCeil(instructions_ahead, std::max<std::uint64_t>(size, 1)), 1, most_turns_ahead);
    for (const Stream& stream : streams) {
      llvm::IRBuilder<> builder(stream.load);
      fetch(builder, stream.load->getPointerOperand(), stream.step, turns);
    }
    llvm::BasicBlock* before = loop.getLoopPreheader();
    if (!before) return;
    llvm::IRBuilder<> builder(before->getTerminator());
    llvm::SmallVector<llvm::Value*, 8> firsts;
    for (const Stream& stream : streams) {
      firsts.push_back(in_first_turn(builder, stream.load->getPointerOperand(), loop));
    }
    for (std::uint64_t turn = 0; turn < std::min<std::uint64_t>(turns, most_in_front / streams.size()); ++turn) {
      for (unsigned i = 0; i < streams.size(); ++i) {
        if (firsts[i]) fetch(builder, firsts[i], streams[i].step, turn);
      }
    }
  }

  static void fetch(llvm::IRBuilder<>& builder, llvm::Value* pointer, std::int64_t step, std::uint64_t turns) {
    const std::uint64_t distance = static_cast<std::uint64_t>(step) * turns;
    llvm::Value* ahead =
        turns == 0 ? pointer : builder.CreateGEP(builder.getInt8Ty(), pointer, builder.getInt64(distance));
    builder.CreateIntrinsic(llvm::Intrinsic::prefetch, {pointer->getType()},
                            {ahead, builder.getInt32(0), builder.getInt32(3), builder.getInt32(1)});
  }

  // What an address is when the loop begins. Null if it takes more than arithmetic.
  static llvm::Value* in_first_turn(llvm::IRBuilder<>& builder, llvm::Value* value, const llvm::Loop& loop,
                                    unsigned depth = 0) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (!instruction || !loop.contains(instruction)) return value;
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction)) {
      return phi->getParent() == loop.getHeader() ? phi->getIncomingValueForBlock(loop.getLoopPreheader()) : nullptr;
    }
    const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(instruction);
    const bool is_simple =
        operation ? !operation->isIntDivRem() : llvm::isa<llvm::CastInst, llvm::GetElementPtrInst>(instruction);
    if (!is_simple || depth == deepest_address) return nullptr;
    llvm::SmallVector<llvm::Value*, 4> operands;
    for (llvm::Value* operand : instruction->operands()) {
      operands.push_back(in_first_turn(builder, operand, loop, depth + 1));
      if (!operands.back()) return nullptr;
    }
    llvm::Instruction* copy = instruction->clone();
    copy->dropPoisonGeneratingFlags();
    for (unsigned i = 0; i < operands.size(); ++i) copy->setOperand(i, operands[i]);
    return builder.Insert(copy);
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
