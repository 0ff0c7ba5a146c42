// Questions of the checker (checker/code/screen.h), for all lanes at once:
//
//   uniform     one place
//   a row       one range
//   runs        a range or a place for each, or a range whose places several lanes have
//   varying     the places that the lanes have; what lies side by side is found out when it runs
#include <llvm/IR/MDBuilder.h>

#include "checker/code/operations.h"
#include "checker/code/screen.h"
#include "engines/simd/run/screen_calls.h"
#include "engines/simd/widening/widening.h"

namespace metalloid::engines::simd {

using llvm::Value;
using Kind = Shape::Kind;

// False: not one of them.
bool Widening::widen_screen_call(llvm::CallInst& call) {
  const llvm::StringRef name = call.getCalledFunction()->getName();
  if (!name.starts_with(llvm::StringRef(checker::screen_prefix))) return false;
  if (name == llvm::StringRef(checker::screen_expect_name)) {
    expect(call);
  } else if (name == llvm::StringRef(checker::screen_meeting_name)) {
    screen_meeting(call);
  } else if (name == llvm::StringRef(checker::screen_end_name)) {
    call_screen(screen_end_name, {bits_of(lanes_)});
  } else {
    screen_access(call);
  }
  return true;
}

void Widening::call_screen(std::string_view name, llvm::ArrayRef<Value*> operands) {
  llvm::SmallVector<Value*, 8> all = {state_, first_thread_};
  all.append(operands.begin(), operands.end());
  call_runtime(name, all);
}

void Widening::expect(llvm::CallInst& call) {
  Value* holds = call.getArgOperand(0);
  Value* fails = nullptr;
  if (shapes_.is_uniform(*holds)) {
    fails = builder_.CreateNot(scalar_of(holds));
    if (lanes_) fails = builder_.CreateAnd(fails, any(lanes_));
  } else {
    Value* lanes = builder_.CreateNot(vector_of(holds));
    fails = any(lanes_ ? builder_.CreateAnd(lanes, lanes_) : lanes);
  }
  auto* report = llvm::BasicBlock::Create(context_, "suspect", &wide_);
  auto* behind = llvm::BasicBlock::Create(context_, "holds", &wide_, builder_.GetInsertBlock()->getNextNode());
  builder_.CreateCondBr(fails, report, behind, llvm::MDBuilder(context_).createUnlikelyBranchWeights());
  builder_.SetInsertPoint(report);
  call_screen(screen_suspect_name, {});
  builder_.CreateBr(behind);
  builder_.SetInsertPoint(behind);
}

void Widening::screen_access(llvm::CallInst& call) {
  Value *address = call.getArgOperand(0), *bytes = call.getArgOperand(2);
  Value *root = call.getArgOperand(1), *flags = call.getArgOperand(3);
  if ((llvm::cast<llvm::ConstantInt>(flags)->getZExtValue() & checker::access_only_bounds) != 0) return;
  Type* pointer = builder_.getPtrTy();
  const Shape shape = shapes_.of(*address);
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(bytes);
  const auto plain = [&](Value* own) { return builder_.CreateAddrSpaceCast(own, pointer); };
  if (!shapes_.is_uniform(*bytes)) {
    call_screen(screen_suspect_name, {});
  } else if (shape.kind == Kind::uniform) {
    call_screen(screen_one_name, {bits_of(lanes_), plain(scalar_of(address)), root, scalar_of(bytes), flags});
  } else if (shape.kind == Kind::strided && constant && shape.stride == constant->getSExtValue()) {
    call_screen(screen_row_name, {bits_of(lanes_), plain(scalar_of(address)), root, bytes, flags});
  } else if (!constant || !screen_runs(call, constant->getZExtValue())) {
    Value* addresses = builder_.CreateAddrSpaceCast(vector_of(address), wide(pointer));
    call_screen(screen_lanes_name, {bits_of(lanes_), in_memory(addresses), root, scalar_of(bytes), flags});
  }
}

// Lanes side by side for the low bits of their number, or at one place for some bits.
bool Widening::screen_runs(llvm::CallInst& call, std::uint64_t bytes) {
  constexpr unsigned most_starts = 8;
  Value* address = call.getArgOperand(0);
  const LaneBits bits = shapes_.bits_of(*address);
  llvm::SmallVector<unsigned, 5> along, same, others;
  for (unsigned bit = 0; bit < bits.growth.size(); ++bit) {
    const bool is_next = bit == along.size() && bits.growth[bit] == static_cast<std::int64_t>(bytes << bit);
    (is_next ? along : bits.growth[bit] == 0 ? same : others).push_back(bit);
  }
  if (1u << others.size() > most_starts || along.size() + same.size() == 0) return false;
  Value* taking_part = bits_of(lanes_);
  for (const unsigned start : lanes_of_bits(others)) {
    std::uint32_t lanes = 0;
    for (const unsigned twin : lanes_of_bits(same)) {
      for (const unsigned lane : lanes_of_bits(along)) lanes |= 1u << (start | twin | lane);
    }
    Value* own = builder_.CreateAnd(taking_part, builder_.getInt32(lanes));
    Value* place = run_address(address, along, start, bytes);
    if (same.empty())
      place = address_part(place, static_cast<std::uint64_t>(-static_cast<std::int64_t>(start * bytes)));
    place = builder_.CreateAddrSpaceCast(place, builder_.getPtrTy());
    llvm::SmallVector<Value*, 6> operands = {own, place, call.getArgOperand(1), builder_.getInt64(bytes),
                                             call.getArgOperand(3)};
    if (!along.empty() && !same.empty()) operands.push_back(builder_.getInt32(1u << along.size()));
    call_screen(same.empty() ? screen_row_name : along.empty() ? screen_one_name : screen_shared_row_name, operands);
  }
  return true;
}

void Widening::screen_meeting(llvm::CallInst& call) {
  Value* operand = call.getArgOperand(2);
  Value *one = builder_.getInt32(0), *all = llvm::ConstantPointerNull::get(builder_.getPtrTy());
  if (shapes_.is_uniform(*operand)) {
    one = scalar_of(operand);
  } else {
    all = in_memory(vector_of(operand));
  }
  call_screen(screen_meet_name, {bits_of(lanes_), call.getArgOperand(0), call.getArgOperand(1), one, all});
}

}  // namespace metalloid::engines::simd
