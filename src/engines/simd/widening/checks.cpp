// Checks of bounds (ir/bounds/check_bounds.h), of all lanes at once:
//
//   uniform     one comparison
//   a row       one comparison: of where it begins, with its length taken off what there is
//   runs        the same for each
//   varying     a comparison of vectors
//
// Checks that stand side by side are one branch. The comparisons look at all 32 lanes; if some of these are outside it
// is found out, where nobody is in a hurry, whether one of them takes part. Rows that may wrap (wraps.cpp)
// count as outside while they do, and then each lane that takes part has to lie where its row says.
#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PatternMatch.h>

#include <utility>

#include "engines/simd/lane/pair_simdgroups.h"
#include "engines/simd/run/wrapped_rows.h"
#include "engines/simd/widening/report_lanes.h"
#include "engines/simd/widening/seldom_run.h"
#include "engines/simd/widening/widening.h"
#include "ir/bounds/lower_bounds_checks.h"

namespace metalloid::engines::simd {

using llvm::Value;
using Kind = Shape::Kind;

namespace {

// More comparisons of single offsets than that are slower than one of vectors.
constexpr unsigned most_starts = 4;

struct Operands {
  explicit Operands(const llvm::CallInst& check)
      : offset(check.getArgOperand(0)),
        bytes(check.getArgOperand(1)),
        available(check.getArgOperand(2)),
        front(check.getArgOperand(3)) {}
  Value *offset, *bytes, *available, *front;
};

}  // namespace

void Widening::run_checks() {
  if (pending_checks_.empty()) return;
  const auto checks = std::exchange(pending_checks_, {});
  builder_.SetCurrentDebugLocation(checks.front()->getDebugLoc());
  Value* inside = nullptr;
  for (const llvm::CallInst* check : checks) {
    Value* own = are_surely_inside(*check);
    inside = inside ? builder_.CreateAnd(inside, own) : own;
  }
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  auto* behind = llvm::BasicBlock::Create(context_, "inside", &wide_, before->getNextNode());
  auto* look = llvm::BasicBlock::Create(context_, "maybe.outside", &wide_);
  builder_.CreateCondBr(inside, behind, look, llvm::MDBuilder(context_).createLikelyBranchWeights());
  builder_.SetInsertPoint(look);
  for (const llvm::CallInst* check : checks) {
    llvm::BasicBlock* next =
        check == checks.back() ? behind : llvm::BasicBlock::Create(context_, "maybe.outside", &wide_);
    apart([&] { find_outside(*check, *next); });
    call_seldom_run(*look, *next);
    builder_.SetInsertPoint(look = next);
  }
}

// False tells nothing.
Value* Widening::are_surely_inside(const llvm::CallInst& check) {
  const Operands operands(check);
  const auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(operands.bytes);
  const auto if_steady = [&](Value* inside) {
    return may_wrap(*operands.offset) ? builder_.CreateAnd(inside, is_steady(operands.offset)) : inside;
  };
  if (!bytes || !shapes_.is_uniform(*operands.available)) {
    return if_steady(builder_.CreateNot(any(lanes_outside(check))));
  }
  Value* limit = ir::bounds_limit(builder_, scalar_of(operands.available), bytes->getZExtValue());
  const auto fits = [&](Value* lowest, std::uint64_t span) {
    Value* most = limit;
    if (span != 0) most = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::usub_sat, limit, builder_.getInt64(span));
    return builder_.CreateICmpULT(lowest, most);
  };
  const LaneBits bits = shapes_.bits_of(*operands.offset);
  llvm::SmallVector<unsigned, 5> unknown;
  std::int64_t below = 0, span = 0;
  unsigned most = 0;  // of the lane that has most
  for (unsigned bit = 0; bit < bits.growth.size(); ++bit) {
    if (!bits.growth[bit]) {
      unknown.push_back(bit);
      continue;
    }
    span += std::abs(*bits.growth[bit]);
    if (*bits.growth[bit] < 0) below += *bits.growth[bit];
    if (*bits.growth[bit] > 0) most |= 1u << bit;
  }
  if (1u << unknown.size() > most_starts) {
    return if_steady(are_indices_inside(operands.offset, limit));
  }
  Value* all = bits.may_wrap && !wraps_at(*operands.offset) ? is_steady(operands.offset) : nullptr;
  for (const unsigned start : lanes_of_bits(unknown)) {
    Value* lowest = nullptr;
    if (shapes_.is_varying(*operands.offset)) {
      lowest = value_in_lane(operands.offset, start | most);
      lowest = builder_.CreateSub(lowest, builder_.getInt64(static_cast<std::uint64_t>(span)));
    } else {
      lowest = scalar_of(operands.offset);
      if (below != 0) lowest = builder_.CreateAdd(lowest, builder_.getInt64(static_cast<std::uint64_t>(below)));
    }
    Value* own = fits(lowest, static_cast<std::uint64_t>(span));
    all = all ? builder_.CreateAnd(all, own) : own;
  }
  return all;
}

// Lanes that lie anywhere. Indices of 32 bits are compared as such: half as many registers.
Value* Widening::are_indices_inside(Value* offset, Value* limit) {
  using namespace llvm::PatternMatch;
  Value* index = nullptr;
  const llvm::APInt* scale = nullptr;
  std::uint64_t size = 1;
  if (match(offset, m_Shl(m_ZExt(m_Value(index)), m_APInt(scale))) && scale->ult(20)) {
    size = std::uint64_t{1} << scale->getZExtValue();
  } else if (match(offset, m_Mul(m_ZExt(m_Value(index)), m_APInt(scale))) && scale->ult(1u << 20) && !scale->isZero()) {
    size = scale->getZExtValue();
  } else if (!match(offset, m_ZExt(m_Value(index)))) {
    index = nullptr;
  }
  Value *compared = nullptr, *most = limit;
  // Of another block there may be the offset alone.
  const auto* instruction = index ? llvm::dyn_cast<llvm::Instruction>(index) : nullptr;
  const bool is_there = !instruction || known_.contains(instruction) || slots_.contains(instruction);
  if (index && is_there && index->getType()->isIntegerTy(32)) {
    // index * size < limit
    if (size > 1) {
      most = builder_.CreateUDiv(builder_.CreateAdd(limit, builder_.getInt64(size - 1)), builder_.getInt64(size));
    }
    Value* largest = builder_.getInt64(~std::uint32_t{0});
    most = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, most, largest);
    most = builder_.CreateTrunc(most, builder_.getInt32Ty());
    compared = vector_of(index);
  } else {
    compared = vector_of(offset);
  }
  Value* outside = builder_.CreateICmpUGE(compared, builder_.CreateVectorSplat(width_, most));
  if (lanes_) outside = builder_.CreateAnd(outside, lanes_);
  return builder_.CreateNot(any(outside));
}

// Those that take part.
Value* Widening::lanes_outside(const llvm::CallInst& check) {
  const Operands operands(check);
  Value *offset = vector_of(operands.offset), *bytes = vector_of(operands.bytes);
  Value *available = vector_of(operands.available), *front = nullptr;
  if (shapes_.is_uniform(*operands.front)) {
    Value* loaded = builder_.CreateLoad(builder_.getInt64Ty(), scalar_of(operands.front));
    front = builder_.CreateVectorSplat(width_, loaded);
  } else {
    front = builder_.CreateMaskedGather(wide(builder_.getInt64Ty()), vector_of(operands.front), llvm::Align(8),
                                        lanes_or_all(lanes_), llvm::Constant::getNullValue(available->getType()));
  }
  if (const auto end = wraps_at(*operands.offset)) {
    // Lanes of one row on both sides of where it wraps are too far from each other for any memory but the largest, and
    // there the first ones count as outside.
    available = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, available,
                                               llvm::ConstantInt::get(available->getType(), *end));
  }
  offset = builder_.CreateAdd(offset, front);
  available = builder_.CreateAdd(available, front);
  Value* starts = builder_.CreateICmpULE(offset, available);
  Value* ends = builder_.CreateICmpULE(bytes, builder_.CreateSub(available, offset));
  Value* outside = builder_.CreateNot(builder_.CreateAnd(starts, ends));
  if (!llvm::isa<llvm::ConstantInt>(operands.bytes)) {
    outside = builder_.CreateAnd(outside, builder_.CreateICmpNE(bytes, llvm::Constant::getNullValue(bytes->getType())));
  }
  return lanes_ ? builder_.CreateAnd(outside, lanes_) : outside;
}

// Of a row: whether the first and the last lane that take part are inside. Null if it is none.
Value* Widening::are_ends_inside(const llvm::CallInst& check) {
  const Operands operands(check);
  const auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(operands.bytes);
  const Shape shape = shapes_.of(*operands.offset);
  if (!lanes_ || !bytes || shape.kind != Kind::strided || !shapes_.is_uniform(*operands.available)) return nullptr;
  Value* limit = ir::bounds_limit(builder_, scalar_of(operands.available), bytes->getZExtValue());
  const auto is_inside = [&](Value* lane) {
    Value* further = builder_.CreateMul(builder_.CreateZExt(lane, builder_.getInt64Ty()),
                                        builder_.getInt64(static_cast<std::uint64_t>(shape.stride)));
    return builder_.CreateICmpULT(builder_.CreateAdd(scalar_of(operands.offset), further), limit);
  };
  Value* first = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits_of(lanes_), builder_.getFalse());
  Value* inside = builder_.CreateAnd(is_inside(first), is_inside(last_lane(lanes_)));
  return shape.may_wrap ? builder_.CreateAnd(inside, is_steady(operands.offset)) : inside;
}

// Where narrower sums wrap, lanes that take part may lie elsewhere than their row: then the dispatch ends.
void Widening::check_rows(const llvm::CallInst& check) {
  Value *offset = check.getArgOperand(0), *what = check.getArgOperand(4), *text = check.getArgOperand(5);
  Value* values = vector_of(offset);
  if (width_ < simdgroup_width) {  // it wants 32, whoever takes part
    llvm::SmallVector<int, simdgroup_width> places;
    for (unsigned lane = 0; lane < simdgroup_width; ++lane) places.push_back(static_cast<int>(lane % width_));
    values = builder_.CreateShuffleVector(values, places);
  }
  llvm::SmallVector<Value*, 8> operands = {state_, first_thread_of(check), in_memory(values), bits_of(lanes_)};
  std::string_view name = check_row_name;
  if (const Shape shape = shapes_.of(*offset); shape.kind == Kind::strided) {
    operands.append({scalar_of(offset), builder_.getInt64(static_cast<std::uint64_t>(shape.stride))});
  } else {
    name = check_runs_name;
    llvm::SmallVector<std::uint64_t, 5> growth;
    for (const auto& bit : shapes_.bits_of(*offset).growth) {
      growth.push_back(static_cast<std::uint64_t>(bit.value_or(unknown_growth)));
    }
    std::fill(growth.begin() + lane_bits(), growth.end(), static_cast<std::uint64_t>(unknown_growth));
    llvm::Constant* table = llvm::ConstantDataArray::get(context_, growth);
    operands.push_back(new llvm::GlobalVariable(*wide_.getParent(), table->getType(), /*isConstant=*/true,
                                                llvm::GlobalValue::PrivateLinkage, table));
  }
  for (Value* word : {what, text}) {
    operands.push_back(shapes_.is_uniform(*word) ? scalar_of(word)
                                                 : llvm::ConstantPointerNull::get(builder_.getPtrTy()));
  }
  call_runtime(name, operands);
}

// Reports the first lane that is outside; goes on to `next` if there is none.
void Widening::find_outside(const llvm::CallInst& check, llvm::BasicBlock& next) {
  builder_.SetCurrentDebugLocation(check.getDebugLoc());
  auto* report = llvm::BasicBlock::Create(context_, "outside", &wide_);
  if (Value* inside = are_ends_inside(check)) {
    auto* each = llvm::BasicBlock::Create(context_, "each", &wide_, report);
    builder_.CreateCondBr(inside, &next, each);
    builder_.SetInsertPoint(each);
  }
  Value* outside = lanes_outside(check);
  const Value& offset = *check.getArgOperand(0);
  const bool has_row = may_wrap(offset) && !wraps_at(offset);
  llvm::BasicBlock* inside = has_row ? llvm::BasicBlock::Create(context_, "row", &wide_) : &next;
  builder_.CreateCondBr(any(outside), report, inside);
  if (has_row) {
    builder_.SetInsertPoint(inside);
    apart([&] { check_rows(check); });
    builder_.CreateBr(&next);
  }
  builder_.SetInsertPoint(report);
  report_lane(check, outside);
}

// Of programs of two simdgroups there are checks of the second one's.
Value* Widening::first_thread_of(const llvm::CallInst& check) {
  if (!check.hasMetadata(llvm::StringRef(second_simdgroup_name))) return first_thread_;
  return builder_.CreateAdd(first_thread_, builder_.getInt32(width_));
}

void Widening::report_lane(const llvm::CallInst& check, Value* outside) {
  llvm::SmallVector<Value*, 10> operands = {state_, first_thread_of(check), bits_of(outside)};
  for (Value* operand : check.args()) {
    operands.push_back(shapes_.is_uniform(*operand) ? scalar_of(operand) : vector_of(operand));
  }
  builder_.CreateCall(&first_lane_reporter(*wide_.getParent(), operands), operands);
  builder_.CreateUnreachable();
}

// Code on a way that others do not take: what it computes is not there for them.
void Widening::apart(llvm::function_ref<void()> code) {
  const auto known = known_;
  const auto in_lane = in_lane_;
  const bool was_apart = std::exchange(is_apart_, true);
  code();
  is_apart_ = was_apart;
  known_ = known;
  in_lane_ = in_lane;
}

}  // namespace metalloid::engines::simd
