#include "engines/cuda/passes/fork_by_alignment.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ir/support/move_code.h"

namespace metalloid::engines::cuda {
namespace {

constexpr llvm::StringLiteral aligned_name = "metalloid.aligned";

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

// Of instructions that are there twice then.
constexpr std::size_t longest_run = 512;

using Run = llvm::SmallVector<UnsureAccess, 16>;

class AlignmentFork {
 public:
  explicit AlignmentFork(llvm::Function& function) : function_(function), layout_(function.getDataLayout()) {}

  static llvm::SmallVector<Run, 8> runs_of(llvm::ArrayRef<UnsureAccess> unsure) {
    llvm::SmallVector<Run, 8> runs;
    for (const UnsureAccess& access : unsure) {
      if (runs.empty() || !goes_on(runs.back(), *access.instruction)) runs.emplace_back();
      runs.back().push_back(access);
    }
    return runs;
  }

  void fork(const Run& run) const {
    Instruction& first = *run.front().instruction;
    for (const UnsureAccess& access : run) ir::bring(llvm::getLoadStorePointerOperand(access.instruction), first);
    llvm::IRBuilder<> builder(&first);
    Value* rest = builder.getInt32(0);
    for (const auto& [access, sure] : run) {
      Value* address = builder.CreatePtrToInt(llvm::getLoadStorePointerOperand(access), builder.getInt32Ty());
      const auto mask = static_cast<std::uint32_t>(wanted(*access).value() - 1);
      rest = builder.CreateOr(rest, builder.CreateAnd(address, builder.getInt32(mask)));
    }
    Value* are_aligned = builder.CreateICmpEQ(rest, builder.getInt32(0));

    BasicBlock* before = first.getParent();
    BasicBlock* aligned = llvm::SplitBlock(before, &first);
    BasicBlock* behind = llvm::SplitBlock(aligned, run.back().instruction->getNextNode());
    llvm::ValueToValueMapTy values;
    BasicBlock* pieces = llvm::CloneBasicBlock(aligned, values, ".pieces", &function_);
    llvm::remapInstructionsInBlocks({pieces}, values);
    llvm::MDNode* likely = llvm::MDBuilder(function_.getContext()).createLikelyBranchWeights();
    before->getTerminator()->eraseFromParent();
    builder.SetInsertPoint(before);
    builder.CreateCondBr(are_aligned, aligned, pieces, likely);
    for (Instruction& made : *aligned) {
      if (!made.isUsedOutsideOfBlock(aligned)) continue;
      builder.SetInsertPoint(behind, behind->begin());
      llvm::PHINode* merged = builder.CreatePHI(made.getType(), 2);
      made.replaceUsesOutsideBlock(merged, aligned);
      merged->addIncoming(&made, aligned);
      merged->addIncoming(values[&made], pieces);
    }
    for (const auto& [access, sure] : run) {
      divide(*llvm::cast<Instruction>(static_cast<Value*>(values[access])), sure);
    }
  }

 private:
  static llvm::Align wanted(const Instruction& access) {
    return std::min(llvm::getLoadStoreAlignment(&access), widest_access);
  }

  // Whether nothing but arithmetic and accesses are between, and the address is there at the run's beginning.
  static bool goes_on(const Run& run, Instruction& access) {
    Instruction& first = *run.front().instruction;
    if (first.getParent() != access.getParent()) return false;
    std::size_t length = 0;
    for (const Instruction* other = &first; other != &access; other = other->getNextNode()) {
      if (++length > longest_run) return false;
      const auto* call = llvm::dyn_cast<llvm::CallBase>(other);
      if (call && (call->isConvergent() || call->mayHaveSideEffects())) return false;
    }
    return ir::can_be_at(llvm::getLoadStorePointerOperand(&access), first);
  }

  void divide(Instruction& access, llvm::Align sure) const {
    Value* pointer = llvm::getLoadStorePointerOperand(&access);
    llvm::IRBuilder<> builder(&access);
    llvm::Type* type = llvm::getLoadStoreType(&access);
    const std::uint64_t size = layout_.getTypeStoreSize(type).getFixedValue();
    const std::uint64_t piece = std::min<std::uint64_t>({sure.value(), size & -size, 8});
    llvm::Type* number = builder.getIntNTy(static_cast<unsigned>(8 * piece));
    auto* pieces = llvm::FixedVectorType::get(number, static_cast<unsigned>(size / piece));
    const auto each = [&](auto&& carry_out) {
      for (std::uint64_t i = 0; i < size / piece; ++i) {
        carry_out(i, hidden(builder, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), pointer, i * piece)));
      }
    };
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&access)) {
      Value* made = llvm::PoisonValue::get(pieces);
      each([&](std::uint64_t i, Value* place) {
        Value* part = builder.CreateAlignedLoad(number, place, llvm::Align(piece), load->isVolatile());
        made = builder.CreateInsertElement(made, part, i);
      });
      load->replaceAllUsesWith(from_pieces(builder, made, *type));
    } else {
      auto& store = llvm::cast<llvm::StoreInst>(access);
      Value* parts = to_pieces(builder, *store.getValueOperand(), *pieces);
      each([&](std::uint64_t i, Value* place) {
        builder.CreateAlignedStore(builder.CreateExtractElement(parts, i), place, llvm::Align(piece),
                                   store.isVolatile());
      });
    }
    access.eraseFromParent();
  }

  // LLVM makes one of accesses that are equal but for their alignment, with the lower, and of neighbours one that is
  // equal. It cannot if it does not see where they are.
  Value* hidden(llvm::IRBuilder<>& builder, Value* pointer) const {
    llvm::Type* number = builder.getIntNTy(layout_.getPointerSizeInBits(pointer->getType()->getPointerAddressSpace()));
    const bool is_long = number->isIntegerTy(64);
    auto* copy = llvm::InlineAsm::get(llvm::FunctionType::get(number, {number}, /*isVarArg=*/false),
                                      is_long ? "mov.b64 $0, $1;" : "mov.b32 $0, $1;", is_long ? "=l,l" : "=r,r",
                                      /*hasSideEffects=*/false);
    Value* address = builder.CreateCall(copy, {builder.CreatePtrToInt(pointer, number)});
    return builder.CreateIntToPtr(address, pointer->getType());
  }

  // Numbers whose bits are bytes, vectors of them, and addresses.
  Value* from_pieces(llvm::IRBuilder<>& builder, Value* pieces, llvm::Type& type) const {
    if (!type.isPtrOrPtrVectorTy()) return builder.CreateBitCast(pieces, &type);
    return builder.CreateIntToPtr(builder.CreateBitCast(pieces, layout_.getIntPtrType(&type)), &type);
  }
  Value* to_pieces(llvm::IRBuilder<>& builder, Value& value, llvm::Type& pieces) const {
    Value* number = &value;
    if (value.getType()->isPtrOrPtrVectorTy())
      number = builder.CreatePtrToInt(number, layout_.getIntPtrType(value.getType()));
    return builder.CreateBitCast(number, &pieces);
  }

  llvm::Function& function_;
  const llvm::DataLayout& layout_;
};

}  // namespace

void note_aligned(llvm::Instruction& access) {
  access.setMetadata(aligned_name, llvm::MDNode::get(access.getContext(), {}));
}

bool is_noted_aligned(const llvm::Instruction& access) { return access.hasMetadata(aligned_name); }

void fork_by_alignment(llvm::Function& function, llvm::ArrayRef<UnsureAccess> unsure) {
  const AlignmentFork forks(function);
  const auto runs = AlignmentFork::runs_of(unsure);
  // From the last on: the block of an earlier one stays.
  for (const Run& run : llvm::reverse(runs)) forks.fork(run);
}

}  // namespace metalloid::engines::cuda
