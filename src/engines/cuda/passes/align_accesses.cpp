#include "engines/cuda/passes/align_accesses.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/bit.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;

// The widest access that the GPU has.
const llvm::Align widest(16);
constexpr std::uint64_t longest_copy = 128;

class Alignment {
 public:
  explicit Alignment(llvm::Function& function) : function_(function), layout_(function.getDataLayout()) {}

  void run() {
    llvm::SmallVector<llvm::Instruction*, 32> unsure;
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function_))) {
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) narrow(*store);
      if (auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(&instruction)) expand(*copy);
    }
    for (llvm::Instruction& instruction : llvm::instructions(function_)) {
      if (auto* transfer = llvm::dyn_cast<llvm::AnyMemIntrinsic>(&instruction)) {
        relax(*transfer);
      } else if (is_unsure(instruction)) {
        unsure.push_back(&instruction);
      }
    }
    for (llvm::Instruction* access : unsure) split(*access);
  }

 private:
  llvm::Align known(Value* pointer) const { return llvm::getKnownAlignment(pointer, layout_); }

  // Whether nobody wrote the fourth element of a vector.
  static bool has_three(Value* vector, llvm::SmallPtrSetImpl<Value*>& seen) {
    if (!seen.insert(vector).second) return true;
    const auto each = [&](Value* part) { return has_three(part, seen); };
    if (auto* merged = llvm::dyn_cast<llvm::PHINode>(vector)) return llvm::all_of(merged->incoming_values(), each);
    if (auto* choice = llvm::dyn_cast<llvm::SelectInst>(vector)) {
      return each(choice->getTrueValue()) && each(choice->getFalseValue());
    }
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(vector)) {
      const llvm::Constant* last = constant->getAggregateElement(3);
      return last && llvm::isa<llvm::UndefValue>(last);
    }
    auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(vector);
    if (!shuffle) return false;
    const int source = shuffle->getMaskValue(3);
    if (source == llvm::PoisonMaskElem) return true;
    const auto width =
        static_cast<int>(llvm::cast<llvm::FixedVectorType>(shuffle->getOperand(0)->getType())->getNumElements());
    auto* from = llvm::dyn_cast<llvm::Constant>(shuffle->getOperand(source < width ? 0 : 1));
    const llvm::Constant* element = from ? from->getAggregateElement(static_cast<unsigned>(source % width)) : nullptr;
    return element && llvm::isa<llvm::UndefValue>(element);
  }

  // store <4 x float> (three elements and nothing)    ->    store <3 x float>
  static void narrow(llvm::StoreInst& store) {
    Value* value = store.getValueOperand();
    const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
    llvm::SmallPtrSet<Value*, 8> seen;
    if (!type || type->getNumElements() != 4 || !store.isSimple() || !has_three(value, seen)) return;
    llvm::IRBuilder<> builder(&store);
    constexpr std::array<int, 3> first = {0, 1, 2};
    auto* narrower = builder.CreateAlignedStore(builder.CreateShuffleVector(value, first), store.getPointerOperand(),
                                                store.getAlign());
    narrower->setDebugLoc(store.getDebugLoc());
    store.eraseFromParent();
  }

  // A short copy, as of a vector that is a class of the library: what is left to LLVM goes byte by byte.
  static void expand(llvm::MemCpyInst& copy) {
    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(copy.getLength());
    if (!length || length->getZExtValue() > longest_copy || copy.isVolatile()) return;
    const auto is_own = [](const Value* place) {
      return llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(place));
    };
    if (is_own(copy.getRawDest()) || is_own(copy.getRawSource())) return;  // which goes, with what it does not hold
    const std::uint64_t bytes = length->getZExtValue();
    const llvm::Align alignment =
        std::min({copy.getDestAlign().valueOrOne(), copy.getSourceAlign().valueOrOne(), widest});
    llvm::IRBuilder<> builder(&copy);
    const auto place = [&](Value* base, std::uint64_t offset) {
      return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset);
    };
    llvm::SmallVector<std::pair<std::uint64_t, llvm::LoadInst*>, 8> pieces;
    for (std::uint64_t at = 0; at < bytes;) {
      const std::uint64_t size = std::min(llvm::bit_floor(bytes - at), alignment.value());
      llvm::Type* type = builder.getIntNTy(static_cast<unsigned>(8 * std::min<std::uint64_t>(size, 8)));
      if (size > 8) type = llvm::FixedVectorType::get(builder.getInt32Ty(), static_cast<unsigned>(size / 4));
      pieces.emplace_back(at, builder.CreateAlignedLoad(type, place(copy.getRawSource(), at), llvm::Align(size)));
      at += size;
    }
    for (const auto& [at, piece] : pieces) {
      builder.CreateAlignedStore(piece, place(copy.getRawDest(), at), piece->getAlign());
    }
    copy.eraseFromParent();
  }

  void relax(llvm::AnyMemIntrinsic& transfer) const {
    const auto less = [&](llvm::MaybeAlign claimed, Value* pointer) {
      return std::min(claimed.valueOrOne(), known(pointer));
    };
    transfer.setDestAlignment(less(transfer.getDestAlign(), transfer.getRawDest()));
    if (auto* copy = llvm::dyn_cast<llvm::AnyMemTransferInst>(&transfer)) {
      copy->setSourceAlignment(less(copy->getSourceAlign(), copy->getRawSource()));
    }
  }

  bool is_unsure(llvm::Instruction& instruction) const {
    const bool is_plain =
        (llvm::isa<llvm::LoadInst>(instruction) || llvm::isa<llvm::StoreInst>(instruction)) && !instruction.isAtomic();
    if (!is_plain) return false;
    llvm::Type* type = llvm::getLoadStoreType(&instruction);
    // No structures, and nothing that has bits of no byte.
    const llvm::TypeSize bits = layout_.getTypeSizeInBits(type);
    if (!type->isSingleValueType() || bits != 8 * layout_.getTypeStoreSize(type).getFixedValue()) return false;
    return known(llvm::getLoadStorePointerOperand(&instruction)) <
           std::min(llvm::getLoadStoreAlignment(&instruction), widest);
  }

  void split(llvm::Instruction& access) const {
    Value* pointer = llvm::getLoadStorePointerOperand(&access);
    const llvm::Align wanted = std::min(llvm::getLoadStoreAlignment(&access), widest), sure = known(pointer);
    llvm::IRBuilder<> builder(&access);
    Value* address = builder.CreatePtrToInt(
        pointer, builder.getIntNTy(layout_.getPointerSizeInBits(pointer->getType()->getPointerAddressSpace())));
    Value* rest = builder.CreateAnd(address, llvm::ConstantInt::get(address->getType(), wanted.value() - 1));
    Value* is_aligned = builder.CreateICmpEQ(rest, llvm::ConstantInt::get(address->getType(), 0));
    llvm::MDNode* likely = llvm::MDBuilder(function_.getContext()).createLikelyBranchWeights();
    llvm::Instruction *then = nullptr, *otherwise = nullptr;
    llvm::SplitBlockAndInsertIfThenElse(is_aligned, &access, &then, &otherwise, likely);
    // As bytes: of two accesses that are equal but for their alignment LLVM makes one with the lower.
    builder.SetInsertPoint(otherwise);
    Value* in_pieces = nullptr;
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&access)) {
      in_pieces =
          from_bytes(builder, builder.CreateAlignedLoad(bytes_of(*load->getType()), pointer, sure, load->isVolatile()),
                     *load->getType());
    } else {
      auto& store = llvm::cast<llvm::StoreInst>(access);
      Value* bytes = to_bytes(builder, *store.getValueOperand());
      builder.CreateAlignedStore(bytes, pointer, sure, store.isVolatile());
    }
    llvm::BasicBlock* behind = access.getParent();
    access.moveBefore(then->getIterator());
    if (access.getType()->isVoidTy()) return;
    builder.SetInsertPoint(behind, behind->begin());
    llvm::PHINode* merged = builder.CreatePHI(access.getType(), 2);
    access.replaceAllUsesWith(merged);
    merged->addIncoming(&access, access.getParent());
    merged->addIncoming(in_pieces, otherwise->getParent());
  }

  llvm::Type* bytes_of(llvm::Type& type) const {
    const auto count = static_cast<unsigned>(layout_.getTypeStoreSize(&type).getFixedValue());
    return llvm::FixedVectorType::get(llvm::Type::getInt8Ty(type.getContext()), count);
  }
  // Numbers whose bits are bytes, vectors of them, and addresses.
  Value* from_bytes(llvm::IRBuilder<>& builder, Value* bytes, llvm::Type& type) const {
    if (!type.isPtrOrPtrVectorTy()) return builder.CreateBitCast(bytes, &type);
    return builder.CreateIntToPtr(builder.CreateBitCast(bytes, layout_.getIntPtrType(&type)), &type);
  }
  Value* to_bytes(llvm::IRBuilder<>& builder, Value& value) const {
    Value* number = &value;
    if (value.getType()->isPtrOrPtrVectorTy())
      number = builder.CreatePtrToInt(number, layout_.getIntPtrType(value.getType()));
    return builder.CreateBitCast(number, bytes_of(*value.getType()));
  }

  llvm::Function& function_;
  const llvm::DataLayout& layout_;
};

}  // namespace

void align_accesses(llvm::Function& function) { Alignment(function).run(); }

}  // namespace metalloid::engines::cuda
