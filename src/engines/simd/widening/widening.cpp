#include "engines/simd/widening/widening.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallBitVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/MDBuilder.h>

#include <cstddef>
#include <vector>

#include "engines/cpu_shared/passes/thread_state.h"
#include "engines/simd/lane/prepare_calls.h"
#include "engines/simd/lane/share_accesses.h"
#include "engines/simd/lane/whole_turns.h"
#include "engines/simd/shapes/lane_target.h"
#include "ir/bounds/check_bounds.h"

namespace metalloid::engines::simd {

using llvm::BasicBlock;
using llvm::Value;

// Instructions of blocks that may be there twice.
static constexpr std::size_t most_twice = 2000;
// As code generation should see it: what is for these loops alone takes no register from those of whole turns.
static constexpr unsigned leave_rest = 7, stay_in_rest = 1;

Widening::Widening(const AnalysedFunction& lane, llvm::Function& wide, const BlockSchedule& schedule, Entry entry,
                   const WideFunctions& functions)
    : lane_(lane.function()),
      wide_(wide),
      width_(step_width(lane_)),
      shapes_(lane.shapes()),
      schedule_(schedule),
      entered_by_(entry),
      functions_(functions),
      layout_(lane_.getParent()->getDataLayout()),
      context_(lane_.getContext()),
      builder_(context_) {}

void Widening::run() {
  count_called_accesses();
  make_blocks();
  make_slots();
  enter();
  for (const ScheduledBlock& scheduled : schedule_.blocks()) run_block(scheduled);
}

void Widening::make_blocks() {
  entry_ = BasicBlock::Create(context_, "entry", &wide_);
  llvm::SmallBitVector twice = sets_there_twice();
  rare_sets_ = twice;
  for (unsigned set = 0; set < twice.size(); ++set) {
    (is_never_whole(set) ? twice : rare_sets_).reset(set);
  }
  for (const ScheduledBlock& scheduled : schedule_.blocks()) {
    Places& places = places_[scheduled.block];
    if (scheduled.is_checked)
      places.check = BasicBlock::Create(context_, scheduled.block->getName() + ".check", &wide_);
    places.body = BasicBlock::Create(context_, scheduled.block->getName(), &wide_);
    if (!twice[scheduled.lanes]) continue;
    places.variants = {BasicBlock::Create(context_, scheduled.block->getName() + ".some", &wide_),
                       BasicBlock::Create(context_, scheduled.block->getName() + ".all", &wide_)};
  }
}

// Blocks with accesses that are slow for some lanes are there once more for all 32, with all blocks of the same lanes.
// Not where the simdgroup has fewer: that is the form for threadgroups of rare shapes, which costs as much to compile
// as the others.
llvm::SmallBitVector Widening::sets_there_twice() const {
  std::vector<std::size_t> sizes(schedule_.lane_set_count());
  llvm::SmallBitVector result(schedule_.lane_set_count());
  if (entered_by_ == Entry::number_of_lanes || entered_by_ == Entry::one_lane) return result;
  for (const ScheduledBlock& scheduled : schedule_.blocks()) {
    sizes[scheduled.lanes] += scheduled.block->size();
    if (llvm::any_of(*scheduled.block, [&](const llvm::Instruction& access) { return is_better_whole(access); })) {
      result.set(scheduled.lanes);
    }
  }
  for (unsigned set = 0; set < sizes.size(); ++set) {
    if ((set == all_lanes && entered_by_ == Entry::all_lanes) || sizes[set] > most_twice) result.reset(set);
  }
  return result;
}

// Of loops in front of which another has taken the turns that all lanes are in.
bool Widening::is_never_whole(LaneSet set) const {
  const llvm::Loop* loop = schedule_.loop_of(set);
  return loop && loop->getHeader()->getTerminator()->hasMetadata(llvm::StringRef(rest_of_turns_name));
}

BasicBlock* Widening::start_of(const BasicBlock* block) {
  const Places& places = places_[block];
  return places.check ? places.check : places.body;
}

bool Widening::lives_beyond_block(const llvm::Instruction& instruction) const {
  return llvm::any_of(instruction.uses(), [&](const llvm::Use& use) {
    const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    const auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
    return (phi ? phi->getIncomingBlock(use) : user->getParent()) != instruction.getParent();
  });
}

// Variables for what lives longer than a block. LLVM makes values of them.
void Widening::make_slots() {
  builder_.SetInsertPoint(entry_);
  for (unsigned set = 0; set < schedule_.lane_set_count(); ++set) {
    lane_slots_.push_back(set == all_lanes ? nullptr : builder_.CreateAlloca(wide(builder_.getInt1Ty())));
  }
  const auto make = [&](const llvm::Instruction& instruction) {
    Slots slots;
    if (may_wrap(instruction)) {
      slots.is_steady = builder_.CreateAlloca(builder_.getInt1Ty());
      if (!shapes_.is_varying(instruction)) {
        slots.beside_row = builder_.CreateAlloca(wide(number_like(instruction.getType())));
      }
    }
    if (!shapes_.is_varying(instruction)) {
      slots.scalar = builder_.CreateAlloca(instruction.getType());
      return slots;
    }
    for (unsigned part = 0; part < parts_of(instruction.getType()); ++part) {
      slots.vectors.push_back(builder_.CreateAlloca(wide(part_type(instruction.getType(), part))));
    }
    return slots;
  };
  for (const ScheduledBlock& scheduled : schedule_.blocks()) {
    for (const llvm::Instruction& instruction : *scheduled.block) {
      if (instruction.getType()->isVoidTy()) continue;
      if (llvm::isa<llvm::PHINode>(instruction)) phi_slots_[&instruction] = make(instruction);
      if (lives_beyond_block(instruction)) slots_[&instruction] = make(instruction);
    }
  }
  for (const ScheduledBlock& scheduled : schedule_.blocks()) find_fresh_slots(*scheduled.block);
}

// Where the first way to a block is stepped over, the variables of the block's phis keep what they had, in a loop from
// the turn before: LLVM would carry it along. So they begin anew where all ways to the block begin.
void Widening::find_fresh_slots(const BasicBlock& block) {
  const llvm::Loop* loop = schedule_.loops().getLoopFor(&block);
  if (loop && loop->getHeader() == &block) return;
  const BasicBlock* begin = schedule_.last_on_all_ways(block);
  while (begin && schedule_.loops().getLoopFor(begin) != loop) begin = schedule_.last_on_all_ways(*begin);
  if (!begin) return;
  for (const llvm::PHINode& phi : block.phis()) fresh_slots_[begin].append(phi_slots_[&phi].vectors);
}

void Widening::begin_anew(const BasicBlock& block) {
  for (llvm::AllocaInst* slot : fresh_slots_.lookup(&block)) {
    builder_.CreateStore(llvm::UndefValue::get(slot->getAllocatedType()), slot);
  }
}

void Widening::enter() {
  unsigned next = 0;
  for (llvm::Argument& argument : lane_.args()) {
    Widened& own = arguments_[&argument];
    const bool is_varying = shapes_.is_varying(argument);
    for (unsigned part = 0; part < (is_varying ? parts_of(argument.getType()) : 1); ++part) {
      llvm::Argument* received = wide_.getArg(next++);
      received->setName(argument.getName());
      if (is_varying) {
        own.vectors.push_back(received);
      } else {
        own.scalar = received;
      }
    }
  }
  const bool is_kernel = entered_by_ != Entry::bits_of_lanes;
  if (!is_shared_access(lane_)) {
    state_ = scalar_of(is_kernel ? lane_.getArg(0) : cpu::state_in_call(lane_));
    first_thread_ = scalar_of(is_kernel ? lane_.getArg(1) : first_thread_in_call(lane_));
  }
  Value* last = wide_.getArg(wide_.arg_size() - 1);
  if (entered_by_ == Entry::number_of_lanes || entered_by_ == Entry::one_lane) {
    Value* number = entered_by_ == Entry::one_lane ? builder_.getInt32(1) : last;
    Value* count = builder_.CreateVectorSplat(width_, number);
    entering_ = builder_.CreateICmpULT(lane_numbers(builder_.getInt32Ty()), count, "lanes");
  } else if (entered_by_ == Entry::bits_of_lanes) {
    Value* bits = builder_.CreateTrunc(last, builder_.getIntNTy(width_));
    entering_ = builder_.CreateBitCast(bits, wide(builder_.getInt1Ty()), "lanes");
  }
  for (unsigned set = 0; set < lane_slots_.size(); ++set) {
    if (lane_slots_[set] && !schedule_.loop_of(set)) {
      builder_.CreateStore(llvm::Constant::getNullValue(lane_slots_[set]->getAllocatedType()), lane_slots_[set]);
    }
  }
  builder_.CreateBr(start_of(schedule_.blocks().front().block));
}

Value* Widening::lanes_of(LaneSet set) {
  if (set == all_lanes) return entering_;
  return builder_.CreateLoad(wide(builder_.getInt1Ty()), lane_slots_[set], "lanes");
}

Value* Widening::lanes_or_all(Value* lanes) {
  return lanes ? lanes : llvm::Constant::getAllOnesValue(wide(builder_.getInt1Ty()));
}

void Widening::run_block(const ScheduledBlock& scheduled) {
  current_ = &scheduled;
  known_.clear();
  in_lane_.clear();
  const Places& places = places_[scheduled.block];
  const llvm::Loop* loop = schedule_.loops().getLoopFor(scheduled.block);
  const bool is_header = loop && loop->getHeader() == scheduled.block;  // turns begin behind its check
  builder_.SetCurrentDebugLocation(scheduled.block->getTerminator()->getDebugLoc());
  if (places.check) {
    builder_.SetInsertPoint(places.check);
    if (!is_header) begin_anew(*scheduled.block);
    Value* lanes = lanes_of(scheduled.lanes);
    builder_.CreateCondBr(any(lanes_or_all(lanes)), places.body, start_of(scheduled.if_empty));
  }
  builder_.SetInsertPoint(places.body);
  if (!places.check || is_header) begin_anew(*scheduled.block);
  if (!places.variants[0]) {
    is_rare_ = rare_sets_[scheduled.lanes];
    run_instructions(scheduled, lanes_of(scheduled.lanes));
    is_rare_ = false;
    return;
  }
  Value* has_all = builder_.CreateICmpEQ(bits_of(lanes_of(scheduled.lanes)), bits_of(nullptr));
  builder_.CreateCondBr(has_all, places.variants[1], places.variants[0]);
  for (variant_ = 0; variant_ < 2; ++variant_) {
    known_.clear();
    in_lane_.clear();
    builder_.SetInsertPoint(places.variants[variant_]);
    is_rare_ = variant_ == 0;
    run_instructions(scheduled, variant_ == 0 ? lanes_of(scheduled.lanes) : nullptr);
  }
  is_rare_ = false;
}

void Widening::run_instructions(const ScheduledBlock& scheduled, Value* lanes) {
  const llvm::Loop* loop = schedule_.loops().getLoopFor(scheduled.block);
  if (loop && loop->getHeader() == scheduled.block) {
    for (unsigned set = 0; set < lane_slots_.size(); ++set) {
      if (lane_slots_[set] && schedule_.loop_of(set) == loop) {
        builder_.CreateStore(llvm::Constant::getNullValue(lane_slots_[set]->getAllocatedType()), lane_slots_[set]);
      }
    }
  }
  lanes_ = lanes;
  for (llvm::PHINode& phi : scheduled.block->phis()) {
    keep(phi, load(phi_slots_[&phi]));
  }
  for (llvm::Instruction& instruction : *scheduled.block) {
    if (llvm::isa<llvm::PHINode>(instruction) || instruction.isTerminator()) continue;
    if (llvm::CallInst* check = ir::as_bounds_check(instruction)) {
      pending_checks_.push_back(check);
      continue;
    }
    if (instruction.mayReadOrWriteMemory()) run_checks();
    builder_.SetCurrentDebugLocation(instruction.getDebugLoc());
    widen(instruction);
  }
  run_checks();
  builder_.SetCurrentDebugLocation(scheduled.block->getTerminator()->getDebugLoc());
  leave(scheduled);
}

void Widening::keep(Value& value, const Widened& widened) {
  known_[&value] = widened;
  const auto found = slots_.find(&value);
  if (found == slots_.end()) return;
  const Slots& slots = found->second;
  if (slots.scalar) builder_.CreateStore(widened.scalar, slots.scalar);
  for (unsigned part = 0; part < slots.vectors.size(); ++part) {
    builder_.CreateStore(widened.vectors[part], slots.vectors[part]);
  }
  if (slots.is_steady) builder_.CreateStore(is_steady(&value), slots.is_steady);
  if (slots.beside_row) builder_.CreateStore(beside_row(&value), slots.beside_row);
}

Widened Widening::load(const Slots& slots) {
  const auto from = [&](llvm::AllocaInst* slot) -> Value* {
    return slot ? builder_.CreateLoad(slot->getAllocatedType(), slot) : nullptr;
  };
  Widened widened;
  widened.scalar = from(slots.scalar);
  for (llvm::AllocaInst* slot : slots.vectors) widened.vectors.push_back(from(slot));
  widened.is_steady = from(slots.is_steady);
  widened.beside_row = from(slots.beside_row);
  return widened;
}

void Widening::leave(const ScheduledBlock& scheduled) {
  llvm::Instruction* last = scheduled.block->getTerminator();
  if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(last)) {
    give_back(end->getReturnValue());
    return;
  }
  if (llvm::isa<llvm::UnreachableInst>(last)) {
    builder_.CreateUnreachable();
    return;
  }
  auto& branch = llvm::cast<llvm::BranchInst>(*last);
  const llvm::Loop* loop = schedule_.loops().getLoopFor(scheduled.block);
  const BasicBlock* header = loop ? loop->getHeader() : nullptr;
  const auto place = [&](const BasicBlock* to) {
    const Places& places = places_[to];
    if (places.variants[0] && schedule_.of(*to).lanes == scheduled.lanes) return places.variants[variant_];
    return to == header ? places.body : start_of(to);
  };
  if (scheduled.is_branch) {
    llvm::SmallVector<BasicBlock*, 2> ways;
    for (unsigned s = 0; s < 2; ++s)
      ways.push_back(BasicBlock::Create(context_, "way", &wide_, start_of(header ? header : scheduled.block)));
    builder_.CreateCondBr(scalar_of(branch.getCondition()), ways[0], ways[1]);
    const auto known = known_;
    for (unsigned s = 0; s < 2; ++s) {
      builder_.SetInsertPoint(ways[s]);
      known_ = known;
      go_along(*scheduled.block, {s}, {lanes_});
      builder_.CreateBr(place(scheduled.next[s]));
    }
    return;
  }
  llvm::SmallVector<unsigned, 2> successors;
  llvm::SmallVector<Value*, 2> edge_lanes;
  if (branch.isConditional()) {
    Value* taken = vector_of(branch.getCondition());
    Value* not_taken = builder_.CreateNot(taken);
    successors = {0, 1};
    edge_lanes = {lanes_ ? builder_.CreateAnd(lanes_, taken) : taken,
                  lanes_ ? builder_.CreateAnd(lanes_, not_taken) : not_taken};
  } else {
    successors = {0};
    edge_lanes = {lanes_};
  }
  go_along(*scheduled.block, successors, edge_lanes);
  if (!scheduled.ends_divergent_turn) {
    builder_.CreateBr(place(scheduled.next.front()));
    return;
  }
  Value* staying = nullptr;
  for (const unsigned s : successors) {
    if (branch.getSuccessor(s) == header) staying = lanes_or_all(edge_lanes[s]);
  }
  builder_.CreateStore(staying, lane_slots_[schedule_.of(*header).lanes]);
  BasicBlock* behind = scheduled.next.front();
  if (behind) {
    const bool is_rest = header->getTerminator()->hasMetadata(llvm::StringRef(rest_of_turns_name));
    llvm::MDNode* weights = is_rest ? llvm::MDBuilder(context_).createBranchWeights(stay_in_rest, leave_rest) : nullptr;
    builder_.CreateCondBr(any(staying), places_[header].body, start_of(behind), weights);
  } else {
    builder_.CreateBr(places_[header].body);
  }
}

// Brings lanes, and what they have for the phis, to successors of a block.
void Widening::go_along(const BasicBlock& from, llvm::ArrayRef<unsigned> successors,
                        llvm::ArrayRef<Value*> edge_lanes) {
  std::vector<std::pair<Value*, Value*>> stores;  // after all loads: phis may swap values
  for (unsigned i = 0; i < successors.size(); ++i) {
    BasicBlock* to = from.getTerminator()->getSuccessor(successors[i]);
    const llvm::Loop* loop = schedule_.loops().getLoopFor(to);
    const bool is_header = loop && loop->getHeader() == to;
    const bool is_back = is_header && loop->contains(&from);
    // Whoever is first may write for all: those that come later write their own lanes.
    bool is_first = !schedule_.loops().getLoopFor(&from) || schedule_.loops().getLoopFor(&from)->contains(to);
    for (const BasicBlock* other : llvm::predecessors(to)) {
      if (other != &from && schedule_.comes_before(*other, from)) is_first = false;
    }
    const bool is_whole =
        !edge_lanes[i] || is_header || is_first || shapes_.meets_together(*to) || schedule_.brings_all_lanes(from, *to);
    for (llvm::PHINode& phi : to->phis()) {
      Value* incoming = phi.getIncomingValueForBlock(&from);
      const Slots& slots = phi_slots_[&phi];
      if (slots.scalar) {
        // One value and undefined ones count as uniform: the value stays, whichever way is last.
        if (llvm::isa<llvm::UndefValue>(incoming)) continue;
        stores.emplace_back(scalar_of(incoming), slots.scalar);
        if (slots.beside_row) stores.emplace_back(beside_row(incoming), slots.beside_row);
        if (slots.is_steady) stores.emplace_back(is_steady(incoming), slots.is_steady);
        continue;
      }
      if (slots.is_steady) stores.emplace_back(is_steady(incoming), slots.is_steady);
      for (unsigned part = 0; part < slots.vectors.size(); ++part) {
        Value* value = vector_of(incoming, part);
        if (!is_whole) {
          value =
              builder_.CreateSelect(edge_lanes[i], value, builder_.CreateLoad(value->getType(), slots.vectors[part]));
        }
        stores.emplace_back(value, slots.vectors[part]);
      }
    }
    const ScheduledBlock& target = schedule_.of(*to);
    if (!target.counts_lanes || is_back) continue;
    Value* lanes = lanes_or_all(edge_lanes[i]);
    llvm::AllocaInst* slot = lane_slots_[target.lanes];
    if (!is_header) lanes = builder_.CreateOr(builder_.CreateLoad(lanes->getType(), slot), lanes);
    stores.emplace_back(lanes, slot);
  }
  for (const auto& [value, slot] : stores) builder_.CreateStore(value, slot);
}

}  // namespace metalloid::engines::simd
