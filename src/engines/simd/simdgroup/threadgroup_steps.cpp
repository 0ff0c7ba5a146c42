#include "engines/simd/simdgroup/threadgroup_steps.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <cstddef>

#include "engines/cpu_shared/kernel_abi.h"

namespace metalloid::engines::simd {
namespace {

using cpu::ThreadgroupState;
using llvm::Instruction;
using llvm::Value;
using Step = ThreadgroupStep;

constexpr std::uint64_t most_near = 4096;  // bytes
constexpr unsigned most_depth = 24;        // operands below each other

struct Way {
  Step step = Step::none;
  std::uint64_t bytes = 0;  // of near ones: from one threadgroup to the next, or per thread of a row
};

Way sum(Way a, Way b) {
  const Step step = std::max(a.step, b.step);
  return {step, step == Step::near ? a.bytes + b.bytes : 0};
}

Way times(Way way, std::uint64_t factor) {
  way.bytes *= factor;
  if (way.step == Step::near && way.bytes > most_near) return {Step::far};
  return way;
}

// What goes into a value by several ways is looked at once.
class Steps {
 public:
  Way way_of(const Value& value, unsigned depth) {
    if (const auto found = known_.find(&value); found != known_.end()) return found->second;
    const Way way = derive(value, depth);
    known_[&value] = way;
    return way;
  }

 private:
  Way product(const Value& a, const Value& b, unsigned depth) {
    if (const auto* factor = llvm::dyn_cast<llvm::ConstantInt>(&b)) {
      return times(way_of(a, depth), factor->getValue().getLimitedValue(most_near + 1));
    }
    const Way one = way_of(a, depth), other = way_of(b, depth);
    if (one.step == Step::none && other.step == Step::none) return {};
    if (one.step == Step::unknown || other.step == Step::unknown) return {Step::unknown};
    const Value& factor = one.step == Step::none ? a : b;
    if (is_of_state(factor, offsetof(ThreadgroupState, dispatch_threads_per_threadgroup)) ||
        is_of_state(factor, offsetof(ThreadgroupState, threads_per_threadgroup))) {
      return one.step == Step::none ? other : one;
    }
    return {Step::far};
  }

  Way way_of_address(const llvm::GEPOperator& place, unsigned depth) {
    Way result = way_of(*place.getPointerOperand(), depth);
    if (place.getNumIndices() != 1 || !place.getSourceElementType()->isSized()) return {Step::unknown};
    const llvm::DataLayout& layout = llvm::cast<Instruction>(place).getModule()->getDataLayout();
    const std::uint64_t size = layout.getTypeAllocSize(place.getSourceElementType()).getFixedValue();
    return sum(result, times(way_of(**place.idx_begin(), depth), size));
  }

  Way derive(const Value& value, unsigned depth) {
    const auto* instruction = llvm::dyn_cast<Instruction>(&value);
    if (!instruction) return {};
    if (depth == 0 || llvm::isa<llvm::PHINode>(instruction)) return {Step::unknown};
    if (is_of_state(value, offsetof(ThreadgroupState, threadgroup_position_in_grid))) return {Step::near, 1};
    if (llvm::isa<llvm::LoadInst>(instruction)) return {};
    --depth;
    const auto operand = [&](unsigned i) -> const Value& { return *instruction->getOperand(i); };
    switch (instruction->getOpcode()) {
      case Instruction::ZExt:
      case Instruction::SExt:
      case Instruction::Trunc: return way_of(operand(0), depth);
      case Instruction::Add:
      case Instruction::Or:
      case Instruction::Sub: return sum(way_of(operand(0), depth), way_of(operand(1), depth));
      case Instruction::Mul: return product(operand(0), operand(1), depth);
      case Instruction::Shl:
        if (const auto* places = llvm::dyn_cast<llvm::ConstantInt>(&operand(1))) {
          return times(way_of(operand(0), depth), std::uint64_t{1} << places->getLimitedValue(32));
        }
        return {Step::unknown};
      case Instruction::GetElementPtr: return way_of_address(llvm::cast<llvm::GEPOperator>(value), depth);
      default: {
        Way all;
        for (const llvm::Use& use : instruction->operands()) all = sum(all, way_of(*use, depth));
        return all.step == Step::none ? Way{} : Way{Step::unknown};
      }
    }
  }

  llvm::DenseMap<const Value*, Way> known_;
};

}  // namespace

bool is_of_state(const Value& value, std::size_t offset) {
  std::int64_t place = 0;
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&value);
  if (const auto* element = llvm::dyn_cast<llvm::ExtractElementInst>(&value)) {
    const auto* index = llvm::dyn_cast<llvm::ConstantInt>(element->getIndexOperand());
    if (!index) return false;
    load = llvm::dyn_cast<llvm::LoadInst>(element->getVectorOperand());
    place = static_cast<std::int64_t>(index->getZExtValue() * element->getType()->getScalarSizeInBits() / 8);
  }
  if (!load || value.getType()->isVectorTy()) return false;
  std::int64_t begin = 0;
  const Value* state =
      llvm::GetPointerBaseWithConstantOffset(load->getPointerOperand(), begin, load->getModule()->getDataLayout());
  return state == load->getFunction()->getArg(0) && begin + place == static_cast<std::int64_t>(offset);
}

ThreadgroupStep threadgroup_step(const Value& address) { return Steps().way_of(address, most_depth).step; }

}  // namespace metalloid::engines::simd
