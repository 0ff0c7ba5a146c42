#include "ir/bounds/thread_overruns.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <string_view>

#include "ir/bounds/lower_bounds_checks.h"
#include "support/address_spaces.h"

namespace metalloid::ir {
namespace {

using llvm::Value;

constexpr std::string_view mark = "metalloid.ignores_thread_overruns";

// Variables, and tables that Clang made for arrays.
bool is_of_thread(const Value& object) {
  const auto* table = llvm::dyn_cast<llvm::GlobalVariable>(&object);
  return llvm::isa<llvm::AllocaInst>(object) || (table && table->getAddressSpace() == thread_space);
}

}  // namespace

void ignore_thread_overruns(llvm::Module& module) { module.getOrInsertNamedMetadata(llvm::StringRef(mark)); }

void report_thread_overruns(llvm::Module& module) {
  if (llvm::NamedMDNode* noted = module.getNamedMetadata(llvm::StringRef(mark))) noted->eraseFromParent();
}

AccessesToLeaveOut::AccessesToLeaveOut(const llvm::Module& module)
    : is_wanted_(module.getNamedMetadata(llvm::StringRef(mark)) != nullptr) {}

bool AccessesToLeaveOut::take(const Access& access, Value* offset, Value* available) {
  if (!is_wanted_ || !llvm::isa<llvm::LoadInst, llvm::StoreInst, llvm::MemIntrinsic>(access.instruction)) return false;
  llvm::SmallVector<const Value*, 4> objects;
  llvm::getUnderlyingObjects(access.pointer, objects);
  if (!llvm::all_of(objects, [](const Value* object) { return is_of_thread(*object); })) return false;
  accesses_[access.instruction].push_back({offset, access.bytes, available});
  return true;
}

void AccessesToLeaveOut::leave_out() {
  for (const auto& [access, places] : accesses_) {
    llvm::IRBuilder<> builder(access);
    Value* inside = nullptr;
    for (const Place& place : places) {
      Value* bytes = builder.CreateZExtOrTrunc(place.bytes, builder.getInt64Ty());
      Value* own = is_inside(builder, place.offset, bytes, place.available);
      inside = inside ? builder.CreateAnd(inside, own) : own;
    }
    llvm::MDNode* likely = llvm::MDBuilder(builder.getContext()).createLikelyBranchWeights();
    llvm::BasicBlock* before = access->getParent();
    llvm::Instruction* end =
        llvm::SplitBlockAndInsertIfThen(inside, access->getIterator(), /*Unreachable=*/false, likely);
    llvm::BasicBlock* behind = access->getParent();
    access->moveBefore(end->getIterator());
    if (access->use_empty()) continue;
    builder.SetInsertPoint(behind, behind->begin());
    llvm::PHINode* result = builder.CreatePHI(access->getType(), 2);
    access->replaceAllUsesWith(result);
    result->addIncoming(access, end->getParent());
    result->addIncoming(llvm::Constant::getNullValue(access->getType()), before);
  }
}

}  // namespace metalloid::ir
