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
// (widening/memory.cpp). What the first turns read is asked for in front of the loop, of all rows together, and what
// the first turn of the next threadgroup reads behind it:
//
//   end:
//     call void @llvm.prefetch(ptr %p.in.the.first.turn.of.the.next.threadgroup, ...)
//
// A row that the threads of a threadgroup share is no row for a simdgroup, which takes a piece of it in each turn and
// goes on far behind: in layer normalisation, each simdgroup waited for memory, in half of the time in all. So loops
// ask for the same place of what the next threadgroup reads:
//
//   loop:
//     %x = load float, ptr %p             ; %p is %bytes further in the next threadgroup
// ->
//   %ahead = select (%bytes is less than 128 KiB, and more than a turn's), %bytes, 0
//   loop:
//     call void @llvm.prefetch(ptr %p + %ahead, ...)
//     %x = load float, ptr %p
//
// Of rows with a step, too, if each worker runs several threadgroups one behind the other (ThreadgroupState): some
// turns in front, all rows of a threadgroup wait for memory when it begins.
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/MathExtras.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "engines/cpu_shared/kernel_abi.h"
#include "engines/simd/lane/growth_by_position.h"
#include "engines/simd/lane/next_threadgroup.h"
#include "engines/simd/lane/prepare_lane.h"
#include "engines/simd/lane/whole_turns.h"
#include "engines/simd/simdgroup/threadgroup_steps.h"
#include "ir/operations.h"
#include "ir/support/pass_managers.h"
#include "support/address_spaces.h"

namespace metalloid::engines::simd {
namespace {

// Of the lane's instructions, while memory answers.
constexpr std::uint64_t instructions_ahead = 800;
constexpr std::uint64_t most_turns_ahead = 16;
// Bytes from one turn to the next: less is a row that processors follow, more are lines that have little in common.
constexpr std::int64_t least_step = 64, most_step = 2048;
// Of tiles, whose rows are more than processors follow.
constexpr std::int64_t least_between_barriers = 16;
// Loads that lie closer are brought together.
constexpr std::int64_t close = 512, same_line = 64;
constexpr std::size_t most_in_loop = 8, most_between_barriers = 32;
constexpr std::size_t most_in_front = 16;
constexpr unsigned deepest_address = 12;  // operands below each other
// Bytes from one threadgroup to the next: less is one row that goes on, and more would not stay in a core's cache.
constexpr std::int64_t least_between_threadgroups = 1024, most_between_threadgroups = 128 << 10;
constexpr std::int64_t most_between_own_rows = 512 << 10;
constexpr std::uint64_t instructions_in_call = 16;  // as of exp
// Threadgroups of a worker, the first of which waits for all that it reads.
constexpr std::uint32_t least_threadgroups_in_row = 8;

struct Stream {
  llvm::LoadInst* load;
  const llvm::SCEV* place;
  const llvm::SCEV* step;  // the same in all turns
  bool is_far;             // from turn to turn
};

// How far a prefetch brings what it asks for: to the nearest cache, or to the next one, where rows at steps of a power
// of two find places (widening/memory.cpp).
constexpr std::uint32_t to_nearest = 3, to_next = 2;

bool has_barrier(const llvm::Loop& loop) {
  return llvm::any_of(loop.blocks(), [](const llvm::BasicBlock* block) {
    return llvm::any_of(*block, [](const llvm::Instruction& instruction) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
      return callee && callee->getName() == llvm::StringRef(ir::threadgroup_barrier_name);
    });
  });
}

// What a loop reads that the next threadgroup has, too.
struct NextRow {
  Stream stream;  // from threadgroup to threadgroup
  const llvm::Value* object;
  const llvm::SCEV* turn;  // bytes to the next turn
  const llvm::Loop* loop;
  std::uint64_t size;  // of the loop
};

class FetchAhead {
 public:
  explicit FetchAhead(llvm::Function& lane)
      : dominators_(managers_.functions.getResult<llvm::DominatorTreeAnalysis>(lane)),
        loops_(managers_.functions.getResult<llvm::LoopAnalysis>(lane)),
        evolution_(managers_.functions.getResult<llvm::ScalarEvolutionAnalysis>(lane)),
        state_(lane.arg_empty() ? nullptr : lane.getArg(0)) {}

  void run() {
    for (llvm::Loop* loop : loops_.getLoopsInPreorder()) {
      if (!loop->isInnermost() || !loop->getLoopPreheader()) continue;
      // What the turns before the rest have asked for is there.
      if (loop->getHeader()->getTerminator()->hasMetadata(llvm::StringRef(rest_of_turns_name))) continue;
      fetch_in(*loop);
      find_next_rows(*loop);
    }
    // In one loop of those that go through the same memory: the longest, which needs most time.
    for (const NextRow& row : rows_) {
      const auto is_larger = [&](const NextRow& other) {
        return other.object == row.object && other.stream.step == row.stream.step && other.size > row.size;
      };
      if (llvm::none_of(rows_, is_larger)) fetch_for_next(row);
    }
  }

 private:
  void fetch_in(llvm::Loop& loop) {
    asked_for_next_.clear();
    std::uint64_t size = 0;
    const bool meets = has_barrier(loop);
    llvm::SmallVector<Stream, 8> streams;
    for (llvm::BasicBlock* block : loop.blocks()) {
      size += block->size();
      for (llvm::Instruction& instruction : *block) {
        if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) take(*load, loop, meets, streams);
      }
    }
    if (streams.empty() || streams.size() > (meets ? most_between_barriers : most_in_loop)) return;
    const std::uint64_t turns_ahead = llvm::divideCeil(instructions_ahead, std::max<std::uint64_t>(size, 1));
    const std::uint64_t turns = meets ? 1 : std::clamp<std::uint64_t>(turns_ahead, 1, most_turns_ahead);
    llvm::SCEVExpander expander(evolution_, "step");
    for (const Stream& stream : streams) {
      if (!expander.isSafeToExpand(stream.step) || !is_known_at(stream.step, *stream.load)) continue;
      llvm::Value* step = expander.expandCodeFor(stream.step, stream.step->getType(), stream.load);
      llvm::IRBuilder<> builder(stream.load);
      llvm::Value* distance = builder.CreateMul(step, llvm::ConstantInt::get(step->getType(), turns));
      llvm::Value* next = meets ? nullptr : distance_to_next(loop, stream, *distance);
      if (next) asked_for_next_.push_back(stream);
      fetch(builder, *stream.load->getPointerOperand(), next ? next : distance, next ? to_next : level(stream));
    }
    if (meets) return;
    fetch_in_front(loop, streams, turns);
    llvm::BasicBlock* end = loop.getParentLoop() ? nullptr : behind_last_turn(loop);
    if (end) fetch_first_of_next(loop, *end, streams);
  }

  // Of steps that are constants.
  void fetch_in_front(const llvm::Loop& loop, llvm::ArrayRef<Stream> streams, std::uint64_t turns) {
    llvm::IRBuilder<> builder(loop.getLoopPreheader()->getTerminator());
    llvm::SmallVector<llvm::Value*, 8> firsts;
    for (const Stream& stream : streams) {
      firsts.push_back(in_first_turn(builder, stream.load->getPointerOperand(), loop));
    }
    for (std::uint64_t turn = 0; turn < std::min<std::uint64_t>(turns, most_in_front / streams.size()); ++turn) {
      for (unsigned i = 0; i < streams.size(); ++i) {
        const llvm::APInt& step = llvm::cast<llvm::SCEVConstant>(streams[i].step)->getAPInt();
        if (firsts[i]) fetch(builder, *firsts[i], builder.getInt(step * turn), level(streams[i]));
      }
    }
  }

  static std::uint32_t level(const Stream& stream) { return stream.is_far ? to_next : to_nearest; }

  static void fetch(llvm::IRBuilder<>& builder, llvm::Value& pointer, llvm::Value* distance, std::uint32_t level) {
    const auto* constant = llvm::dyn_cast_or_null<llvm::ConstantInt>(distance);
    const bool is_here = !distance || (constant && constant->isZero());
    llvm::Value* ahead = is_here ? &pointer : builder.CreateGEP(builder.getInt8Ty(), &pointer, distance);
    builder.CreateIntrinsic(llvm::Intrinsic::prefetch, {pointer.getType()},
                            {ahead, builder.getInt32(0), builder.getInt32(level), builder.getInt32(1)});
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

  static llvm::BasicBlock* behind_last_turn(const llvm::Loop& loop) {
    for (llvm::BasicBlock* block : {loop.getHeader(), loop.getLoopLatch()}) {
      if (!block) continue;
      for (llvm::BasicBlock* next : llvm::successors(block->getTerminator())) {
        if (!loop.contains(next)) return next;
      }
    }
    return nullptr;
  }

  static void fetch_first_of_next(const llvm::Loop& loop, llvm::BasicBlock& end, llvm::ArrayRef<Stream> streams) {
    llvm::IRBuilder<> builder(&end, end.getFirstInsertionPt());
    NextThreadgroup next(*end.getParent(), builder);
    for (const Stream& stream : streams) {
      llvm::Value* first = in_first_turn(builder, stream.load->getPointerOperand(), loop);
      llvm::Value* place = first ? next.value_of(first) : nullptr;
      if (place && place != first) fetch(builder, *place, nullptr, level(stream));
    }
  }

  void take(llvm::LoadInst& load, const llvm::Loop& loop, bool meets, llvm::SmallVectorImpl<Stream>& streams) {
    const unsigned space = load.getPointerAddressSpace();
    if (!load.isSimple() || (space != device_space && space != constant_space)) return;
    const llvm::SCEV* place = evolution_.getSCEV(load.getPointerOperand());
    const llvm::SCEV* step = meets ? step_of_place(*place, *load.getPointerOperand(), loop) : step_of(place, loop);
    if (!step || step->isZero()) return;
    const auto* constant = llvm::dyn_cast<llvm::SCEVConstant>(step);
    const std::int64_t bytes = constant ? constant->getAPInt().getSExtValue() : 0;
    if (constant && std::abs(bytes) < (meets ? least_between_barriers : least_step)) return;
    const bool is_far = !constant || std::abs(bytes) > most_step;
    if (is_far && !meets) return;
    const auto is_close = [&](const Stream& other) { return lie_within(close, *place, *other.place); };
    if (llvm::none_of(streams, is_close)) streams.push_back({&load, place, step, is_far});
  }

  void find_next_rows(const llvm::Loop& loop) {
    if (has_barrier(loop)) return;
    llvm::SmallVector<NextRow, 8> rows;
    std::uint64_t size = 0;
    for (llvm::BasicBlock* block : loop.blocks()) {
      for (llvm::Instruction& instruction : *block) {
        size += llvm::isa<llvm::CallInst>(instruction) ? instructions_in_call : 1;
        auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
        if (!load || !load->isSimple() || load->getPointerAddressSpace() != device_space) continue;
        llvm::Value* pointer = load->getPointerOperand();
        const llvm::SCEV* place = evolution_.getSCEV(pointer);
        const llvm::SCEV* step = step_of_place(*place, *pointer, loop);
        if (!step || step->isZero() || is_short(*step) || grows_with_grid(*step)) continue;
        const llvm::SCEV* bytes = position_.growth_of(*place);
        if (!bytes || bytes->isZero() || bytes->getType() != step->getType()) continue;
        if (const auto* constant = llvm::dyn_cast<llvm::SCEVConstant>(bytes)) {
          const std::int64_t number = constant->getAPInt().getSExtValue();
          if (number < least_between_threadgroups || number > most_between_threadgroups) continue;
        }
        const auto is_close = [&](const Stream& other) { return lie_within(same_line, *place, *other.place); };
        const auto has_close = [&](const NextRow& other) { return is_close(other.stream); };
        if (llvm::any_of(rows, has_close) || llvm::any_of(asked_for_next_, is_close)) continue;
        rows.push_back({{load, place, bytes, /*is_far=*/true}, llvm::getUnderlyingObject(pointer, 0), step, &loop, 0});
      }
    }
    for (NextRow& row : rows) row.size = size;
    rows_.append(rows);
  }

  void fetch_for_next(const NextRow& row) {
    llvm::IRBuilder<> builder(row.loop->getLoopPreheader()->getTerminator());
    auto* none = llvm::ConstantInt::getNullValue(row.stream.step->getType());
    llvm::Value* distance = if_near(builder, row.stream.step, row.turn, most_between_threadgroups, *none);
    if (!distance) return;
    builder.SetInsertPoint(row.stream.load);
    fetch(builder, *row.stream.load->getPointerOperand(), distance, to_next);
  }

  // To the same place of what the next threadgroup reads, or another distance where that does not pay. Null if it is
  // not known.
  llvm::Value* distance_to_next(const llvm::Loop& loop, const Stream& stream, llvm::Value& otherwise) {
    const llvm::SCEV* bytes = state_ ? position_.growth_of(*stream.place) : nullptr;
    if (!bytes || bytes->isZero() || bytes->getType() != stream.step->getType()) return nullptr;
    llvm::IRBuilder<> builder(loop.getLoopPreheader()->getTerminator());
    llvm::Value* place = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), state_,
                                                            offsetof(cpu::ThreadgroupState, threadgroups_in_row));
    llvm::Value* in_row = builder.CreateLoad(builder.getInt32Ty(), place);
    llvm::Value* several = builder.CreateICmpUGE(in_row, builder.getInt32(least_threadgroups_in_row));
    llvm::Value* next = if_near(builder, bytes, stream.step, most_between_own_rows, otherwise);
    return next ? builder.CreateSelect(several, next, &otherwise) : nullptr;
  }

  // The bytes, if that is as far as to another row and not further than `most`. Null where that cannot be told.
  llvm::Value* if_near(llvm::IRBuilder<>& builder, const llvm::SCEV* bytes, const llvm::SCEV* turn, std::int64_t most,
                       llvm::Value& otherwise) {
    llvm::SCEVExpander expander(evolution_, "next");
    llvm::Instruction* here = &*builder.GetInsertPoint();
    if (!expander.isSafeToExpandAt(bytes, here) || !expander.isSafeToExpandAt(turn, here)) return nullptr;
    llvm::Type* type = bytes->getType();
    llvm::Value* distance = expander.expandCodeFor(bytes, type, here);
    llvm::Value* least = expander.expandCodeFor(turn, type, here);
    llvm::Value* is_near = builder.CreateAnd(builder.CreateICmpULE(distance, llvm::ConstantInt::get(type, most)),
                                             builder.CreateICmpULE(least, distance));
    return builder.CreateSelect(is_near, distance, &otherwise);
  }

  bool lie_within(std::int64_t bytes, const llvm::SCEV& place, const llvm::SCEV& other) const {
    const llvm::SCEV* apart = evolution_.getMinusSCEV(&place, &other);
    if (llvm::isa<llvm::SCEVCouldNotCompute>(apart)) return false;
    const llvm::ConstantRange range = evolution_.getSignedRange(apart);
    return range.getSignedMin().sgt(-bytes) && range.getSignedMax().slt(bytes);
  }

  bool is_known_at(const llvm::SCEV* number, const llvm::Instruction& where) const {
    return !llvm::SCEVExprContains(number, [&](const llvm::SCEV* part) {
      const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
      return unknown && !dominators_.dominates(unknown->getValue(), &where);
    });
  }

  // Whether a row goes on by as much as the lanes of a simdgroup read, as far as processors follow it.
  static bool is_short(const llvm::SCEV& step) {
    const auto* constant = llvm::dyn_cast<llvm::SCEVConstant>(&step);
    return constant && std::abs(constant->getAPInt().getSExtValue()) <= close;
  }

  // Of loops in which each turn goes on by the whole grid: no threadgroup has a row of its own.
  static bool grows_with_grid(const llvm::SCEV& step) {
    return llvm::SCEVExprContains(&step, [](const llvm::SCEV* part) {
      const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
      if (!unknown) return false;
      const auto is_at = [&](std::size_t place) { return is_of_state(*unknown->getValue(), place); };
      return is_at(offsetof(cpu::ThreadgroupState, threads_per_grid)) ||
             is_at(offsetof(cpu::ThreadgroupState, threadgroups_per_grid));
    });
  }

  const llvm::SCEV* step_of_place(const llvm::SCEV& place, llvm::Value& pointer, const llvm::Loop& loop) {
    const llvm::SCEV* step = step_of(&place, loop);
    return step ? step : step_of_index(pointer, loop);
  }

  // By what a number grows in each turn; null if that is not the same in all.
  const llvm::SCEV* step_of(const llvm::SCEV* number, const llvm::Loop& loop) {
    if (stays(number, loop)) return evolution_.getZero(evolution_.getEffectiveSCEVType(number->getType()));
    if (const auto* turns = llvm::dyn_cast<llvm::SCEVAddRecExpr>(number)) {
      return turns->getLoop() == &loop && turns->isAffine() ? turns->getStepRecurrence(evolution_) : nullptr;
    }
    const llvm::SCEV* sum = nullptr;
    if (llvm::isa<llvm::SCEVAddExpr>(number)) {
      for (const llvm::SCEV* operand : number->operands()) {
        const llvm::SCEV* step = step_of(operand, loop);
        if (!step) return nullptr;
        sum = sum ? evolution_.getAddExpr(sum, step) : step;
      }
    } else if (llvm::isa<llvm::SCEVMulExpr>(number)) {
      for (const llvm::SCEV* operand : number->operands()) {
        if (stays(operand, loop)) continue;
        if (sum) return nullptr;
        sum = step_of(operand, loop);
        if (!sum) return nullptr;
      }
      for (const llvm::SCEV* operand : number->operands()) {
        if (stays(operand, loop)) sum = evolution_.getMulExpr(sum, operand);
      }
    }
    return sum;
  }

  // Also what is loaded in each turn from where it never changes.
  bool stays(const llvm::SCEV* number, const llvm::Loop& loop) {
    return !llvm::SCEVExprContains(number, [&](const llvm::SCEV* part) {
      if (const auto* turns = llvm::dyn_cast<llvm::SCEVAddRecExpr>(part)) return turns->getLoop() == &loop;
      const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
      const auto* load = unknown ? llvm::dyn_cast<llvm::LoadInst>(unknown->getValue()) : nullptr;
      if (load && load->hasMetadata(llvm::LLVMContext::MD_invariant_load)) {
        return !loop.isLoopInvariant(load->getPointerOperand());
      }
      return unknown && !evolution_.isLoopInvariant(unknown, &loop);
    });
  }

  // Of an index of 32 bits, which may wrap on its way: what is asked for then is of no use, and does no harm.
  const llvm::SCEV* step_of_index(llvm::Value& pointer, const llvm::Loop& loop) {
    const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&pointer);
    if (!address || address->getNumIndices() != 1) return nullptr;
    if (!loop.isLoopInvariant(address->getPointerOperand())) return nullptr;
    const auto* wide = llvm::dyn_cast<llvm::CastInst>(address->idx_begin()->get());
    if (!wide || !llvm::isa<llvm::ZExtInst, llvm::SExtInst>(wide)) return nullptr;
    const llvm::SCEV* step = step_of(evolution_.getSCEV(wide->getOperand(0)), loop);
    if (!step) return nullptr;
    const llvm::DataLayout& layout = address->getDataLayout();
    const std::uint64_t size = layout.getTypeAllocSize(address->getSourceElementType()).getFixedValue();
    llvm::Type* type = wide->getType();
    return evolution_.getMulExpr(evolution_.getSignExtendExpr(step, type), evolution_.getConstant(type, size));
  }

  ir::PassManagers managers_;
  llvm::DominatorTree& dominators_;
  llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
  llvm::Value* const state_;
  GrowthByPosition position_{evolution_};
  llvm::SmallVector<Stream, 8> asked_for_next_;  // by the loop
  llvm::SmallVector<NextRow, 8> rows_;
};

}  // namespace

void fetch_ahead(llvm::Function& lane) { FetchAhead(lane).run(); }

}  // namespace metalloid::engines::simd
