#include "engines/cuda/passes/turns_alone.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <cstdint>

#include "engines/cuda/passes/lower_arguments.h"
#include "ir/bounds/check_bounds.h"
#include "support/address_spaces.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

class Objects {
 public:
  // False for accesses that are not as turns_are_alone says.
  bool take(llvm::ArrayRef<Instruction*> accesses) {
    for (const Instruction* access : accesses) {
      if (!llvm::isa<llvm::StoreInst>(access)) continue;
      const Value* pointer = llvm::getLoadStorePointerOperand(access);
      const Value* object = object_of(pointer);
      if (!is_argument(object) || pointer->getType()->getPointerAddressSpace() != device_space) return false;
      if (!stored_.try_emplace(object, pointer).second && stored_[object] != pointer) return false;
    }
    for (const Instruction* access : accesses) {
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(access);
      if (!load) continue;
      const Value* object = object_of(load->getPointerOperand());
      if (!is_argument(object) && !llvm::isa<llvm::GlobalVariable, llvm::Argument>(object)) return false;
      const auto place = stored_.find(object);
      if (place != stored_.end() && place->second != load->getPointerOperand()) return false;
      if (!load->hasMetadata(llvm::LLVMContext::MD_invariant_load)) loaded_.insert(object);
    }
    return true;
  }

  // Whether all ways from a block on, its own instructions too, end or come to a barrier before anything that is in the
  // way, or the loop once more.
  bool waits(const BasicBlock& from, const BasicBlock& loop, bool forwards) const {
    llvm::SmallVector<const BasicBlock*, 8> left{&from};
    llvm::SmallPtrSet<const BasicBlock*, 16> seen{&from};
    while (!left.empty()) {
      const BasicBlock* block = left.pop_back_val();
      if (block == &loop) return false;
      const Met met = forwards ? first_of(*block) : first_of(llvm::reverse(*block));
      if (met == Met::in_the_way) return false;
      if (met == Met::barrier) continue;
      const auto go = [&](const BasicBlock* next) {
        if (seen.insert(next).second) left.push_back(next);
      };
      if (forwards) {
        llvm::for_each(llvm::successors(block), go);
      } else {
        llvm::for_each(llvm::predecessors(block), go);
      }
    }
    return true;
  }

 private:
  enum class Met : std::uint8_t { nothing, barrier, in_the_way };

  static const Value* object_of(const Value* pointer) { return llvm::getUnderlyingObject(pointer, /*MaxLookup=*/0); }
  static bool is_argument(const Value* object) { return as_argument(const_cast<Value&>(*object)) != nullptr; }

  template <typename Instructions>
  Met first_of(Instructions&& instructions) const {
    for (const Instruction& instruction : instructions) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call && call->getIntrinsicID() == llvm::Intrinsic::nvvm_barrier_cta_sync_all) return Met::barrier;
      if (is_in_the_way(instruction)) return Met::in_the_way;
    }
    return Met::nothing;
  }

  bool is_in_the_way(const Instruction& instruction) const {
    if (instruction.isAtomic() || llvm::isa<llvm::FenceInst>(instruction)) return true;
    if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      return call->mayReadOrWriteMemory() && !ir::as_bounds_check(const_cast<Instruction&>(instruction)) &&
             !call->onlyAccessesInaccessibleMemory() && !llvm::isa<llvm::NoAliasScopeDeclInst>(call);
    }
    const Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
    if (!pointer) return false;
    const Value* object = object_of(pointer);
    const bool is_known =
        is_argument(object) || llvm::isa<llvm::GlobalVariable, llvm::Argument, llvm::AllocaInst>(object);
    return !is_known || stored_.contains(object) ||
           (llvm::isa<llvm::StoreInst>(instruction) && loaded_.contains(object));
  }

  llvm::SmallDenseMap<const Value*, const Value*> stored_;  // by object, where
  llvm::SmallPtrSet<const Value*, 8> loaded_;
};

}  // namespace

bool turns_are_alone(llvm::ArrayRef<Instruction*> accesses, const BasicBlock& before, const BasicBlock& test,
                     const BasicBlock& behind) {
  Objects objects;
  return objects.take(accesses) && objects.waits(behind, test, /*forwards=*/true) &&
         objects.waits(before, test, /*forwards=*/false);
}

}  // namespace metalloid::engines::cuda
