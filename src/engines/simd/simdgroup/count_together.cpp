#include "engines/simd/simdgroup/count_together.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/Sequence.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Transforms/Utils/Local.h>

#include <cstdint>
#include <optional>

namespace metalloid::engines::simd {
namespace {

using llvm::Value;

// What one lane does.
struct Change {
  Value* places;
  std::uint64_t lane;
  Value* number;
  llvm::LoadInst* load;
  llvm::StoreInst* store;
};

std::optional<Change> change_by(llvm::StoreInst& store) {
  using namespace llvm::PatternMatch;
  Change change{nullptr, 0, nullptr, nullptr, &store};
  Value* old = nullptr;
  if (!store.isSimple() || !store.getValueOperand()->getType()->isIntegerTy(32)) return std::nullopt;
  if (!match(store.getPointerOperand(), m_ExtractElt(m_Value(change.places), m_ConstantInt(change.lane)))) {
    return std::nullopt;
  }
  if (!match(store.getValueOperand(), m_OneUse(m_c_Add(m_OneUse(m_Value(old)), m_Value(change.number))))) {
    return std::nullopt;
  }
  const auto is_old = [&](Value* value) {
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
    return load && load->isSimple() && load->hasOneUse() && load->getPointerOperand() == store.getPointerOperand() &&
           load->getParent() == store.getParent();
  };
  if (!is_old(old)) {
    auto* sum = llvm::cast<llvm::Instruction>(store.getValueOperand());
    old = sum->getOperand(1);
    change.number = sum->getOperand(0);
  }
  if (!is_old(old)) return std::nullopt;
  change.load = llvm::cast<llvm::LoadInst>(old);
  return change;
}

// Places as a beginning that all share and an index of each lane, of few enough bits not to be taken for a negative
// one.
struct Indices {
  llvm::GetElementPtrInst* all;
  Value* own;  // integers of 8 or 16 bits
};

std::optional<Indices> indices_of(Value* places) {
  auto* all = llvm::dyn_cast<llvm::GetElementPtrInst>(places);
  if (!all || all->getNumIndices() != 1 || all->getPointerOperand()->getType()->isVectorTy()) return std::nullopt;
  auto* wide = llvm::dyn_cast<llvm::ZExtInst>(all->idx_begin()->get());
  if (!wide || wide->getSrcTy()->getScalarSizeInBits() > 16) return std::nullopt;
  return Indices{all, wide->getOperand(0)};
}

Value* part_of(llvm::IRBuilder<>& builder, Value* vector, unsigned first, unsigned count) {
  const auto lanes = llvm::to_vector(llvm::seq<int>(static_cast<int>(first), static_cast<int>(first + count)));
  return builder.CreateShuffleVector(vector, lanes);
}

// As many as conflicts are counted among at once: 16 of 32 bits, or 8 of 64.
unsigned lanes_together(Value* places) { return indices_of(places) ? 16 : 8; }

void change_together(llvm::ArrayRef<Change> changes) {
  const Change& first = changes.front();
  const auto count = static_cast<unsigned>(changes.size());
  llvm::IRBuilder<> builder(changes.back().store);
  auto* type = llvm::FixedVectorType::get(builder.getInt32Ty(), count);
  Value *places = nullptr, *same = nullptr;
  if (const auto indices = indices_of(first.places)) {
    Value* own = builder.CreateZExt(part_of(builder, indices->own, static_cast<unsigned>(first.lane), count), type);
    places = builder.CreateGEP(indices->all->getSourceElementType(), indices->all->getPointerOperand(), own);
    same = builder.CreateIntrinsic(llvm::Intrinsic::x86_avx512_conflict_d_512, {}, {own});
  } else {
    places = part_of(builder, first.places, static_cast<unsigned>(first.lane), count);
    Value* numbers = builder.CreatePtrToInt(places, llvm::FixedVectorType::get(builder.getInt64Ty(), count));
    same = builder.CreateIntrinsic(llvm::Intrinsic::x86_avx512_conflict_q_512, {}, {numbers});
    same = builder.CreateTrunc(same, type);
  }
  Value* before = builder.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, same);
  Value* times = builder.CreateAdd(before, llvm::ConstantInt::get(type, 1));
  Value* added = builder.CreateMul(times, builder.CreateVectorSplat(count, first.number));
  const llvm::Align alignment = first.store->getAlign();
  Value* old = builder.CreateMaskedGather(type, places, alignment);
  builder.CreateMaskedScatter(builder.CreateAdd(old, added), places, alignment);
  for (const Change& change : changes) {
    Value* sum = change.store->getValueOperand();
    change.store->eraseFromParent();
    llvm::RecursivelyDeleteTriviallyDeadInstructions(sum);
  }
}

void count_in(llvm::BasicBlock& block) {
  llvm::SmallVector<Change, 16> changes;
  const llvm::LoadInst* load = nullptr;  // since the last change: there is one, right before its store
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
    if (!instruction.mayReadOrWriteMemory()) continue;
    if (auto* next = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      if (load) changes.clear();
      load = next;
      continue;
    }
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    const auto change = store ? change_by(*store) : std::nullopt;
    const bool is_change = change && change->load == load;
    load = nullptr;
    if (!is_change) {
      changes.clear();
      continue;
    }
    const bool goes_on = !changes.empty() && changes.back().places == change->places &&
                         changes.back().number == change->number && changes.back().lane + 1 == change->lane;
    if (!goes_on) changes.clear();
    changes.push_back(*change);
    if (changes.size() < lanes_together(change->places)) continue;
    change_together(changes);
    changes.clear();
  }
}

}  // namespace

void count_together(llvm::Module& module, const llvm::TargetMachine& machine) {
  const llvm::MCSubtargetInfo& features = *machine.getMCSubtargetInfo();
  if (!machine.getTargetCPU().starts_with("znver") || !features.checkFeatures("+avx512cd,+avx512vpopcntdq")) return;
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) count_in(block);
  }
}

}  // namespace metalloid::engines::simd
