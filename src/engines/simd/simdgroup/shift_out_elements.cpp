#include "engines/simd/simdgroup/shift_out_elements.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/Sequence.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/MathExtras.h>

#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

namespace metalloid::engines::simd {
namespace {

using llvm::Value;

constexpr int run_elements = 8;
constexpr unsigned widest_structure = 64;  // bits
// Of two elements, shuffles are as good.
constexpr int least_stride = 4;

// Results which are each stride-th element of an operand.
struct Run {
  int operand;
  int begin;   // of the first structure
  int member;  // of each structure

  auto operator<=>(const Run&) const = default;
};

std::optional<Run> run_of(llvm::ArrayRef<int> mask, int stride, int elements) {
  const auto* first = llvm::find_if(mask, [](int from) { return from >= 0; });
  if (first == mask.end()) return std::nullopt;
  const int from = *first - stride * static_cast<int>(first - mask.begin());
  for (int i = 0; i < run_elements; ++i) {
    if (mask[static_cast<std::size_t>(i)] >= 0 && mask[static_cast<std::size_t>(i)] != from + stride * i)
      return std::nullopt;
  }
  if (from < 0) return std::nullopt;
  const Run run{from / elements, from % elements / stride * stride, from % stride};
  if (run.operand > 1 || run.begin + stride * run_elements > elements) return std::nullopt;
  return run;
}

llvm::SmallVector<Run, 4> runs_of(const llvm::ShuffleVectorInst& shuffle, int stride) {
  const auto elements =
      static_cast<int>(llvm::cast<llvm::FixedVectorType>(shuffle.getOperand(0)->getType())->getNumElements());
  llvm::SmallVector<Run, 4> runs;
  llvm::ArrayRef<int> mask = shuffle.getShuffleMask();
  for (; !mask.empty(); mask = mask.drop_front(run_elements)) {
    const auto run = run_of(mask.take_front(run_elements), stride, elements);
    if (!run) return {};
    runs.push_back(*run);
  }
  return runs;
}

Value* shifted_out(llvm::IRBuilder<>& builder, const llvm::ShuffleVectorInst& shuffle, const Run& run, int stride) {
  const unsigned bits = shuffle.getType()->getScalarSizeInBits();
  auto* whole = llvm::FixedVectorType::get(builder.getIntNTy(bits * static_cast<unsigned>(stride)), run_elements);
  const auto places = llvm::to_vector(llvm::seq<int>(run.begin, run.begin + stride * run_elements));
  Value* structures = builder.CreateShuffleVector(shuffle.getOperand(static_cast<unsigned>(run.operand)), places);
  structures = builder.CreateBitCast(structures, whole);
  if (run.member > 0) structures = builder.CreateLShr(structures, bits * static_cast<unsigned>(run.member));
  return builder.CreateTrunc(structures, llvm::FixedVectorType::get(builder.getIntNTy(bits), run_elements));
}

Value* joined(llvm::IRBuilder<>& builder, llvm::SmallVector<Value*, 4> parts) {
  for (; parts.size() > 1; parts.resize(parts.size() / 2)) {
    const auto elements = llvm::cast<llvm::FixedVectorType>(parts.front()->getType())->getNumElements();
    const auto all = llvm::to_vector(llvm::seq<int>(0, static_cast<int>(2 * elements)));
    for (std::size_t i = 0; i < parts.size() / 2; ++i) {
      parts[i] = builder.CreateShuffleVector(parts[2 * i], parts[2 * i + 1], all);
    }
  }
  return parts.front();
}

bool replace(llvm::ShuffleVectorInst& shuffle) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(shuffle.getType());
  if (!type || type->getNumElements() < run_elements || !llvm::isPowerOf2_32(type->getNumElements())) return false;
  const unsigned bits = type->getScalarSizeInBits();
  if (bits != 8 && bits != 16) return false;
  for (int stride = least_stride; bits * static_cast<unsigned>(stride) <= widest_structure; stride *= 2) {
    const auto runs = runs_of(shuffle, stride);
    if (runs.empty()) continue;
    llvm::IRBuilder<> builder(&shuffle);
    std::map<Run, Value*> made;
    llvm::SmallVector<Value*, 4> parts;
    for (const Run& run : runs) {
      Value*& part = made[run];
      if (!part) part = shifted_out(builder, shuffle, run, stride);
      parts.push_back(part);
    }
    shuffle.replaceAllUsesWith(builder.CreateBitCast(joined(builder, std::move(parts)), shuffle.getType()));
    return true;
  }
  return false;
}

}  // namespace

void shift_out_elements(llvm::Module& module, const llvm::TargetMachine& machine) {
  const llvm::MCSubtargetInfo& processor = *machine.getMCSubtargetInfo();
  if (!machine.getTargetTriple().isX86() || processor.checkFeatures("+avx512bw")) return;
  for (llvm::Function& function : module) {
    llvm::SmallVector<llvm::ShuffleVectorInst*, 32> shuffles;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction)) shuffles.push_back(shuffle);
    }
    for (llvm::ShuffleVectorInst* shuffle : shuffles) {
      if (replace(*shuffle)) shuffle->eraseFromParent();
    }
  }
}

}  // namespace metalloid::engines::simd
