#include "engines/simd/simdgroup/stream_stores.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "engines/cpu_shared/kernel_abi.h"
#include "engines/simd/simdgroup/threadgroup_steps.h"
#include "ir/support/pass_down.h"

namespace metalloid::engines::simd {
namespace {

using cpu::ThreadgroupState;
using llvm::Value;

constexpr std::uint64_t line = 64;  // bytes

// Which argument's memory the address lies in.
std::optional<unsigned> argument_of(const Value& address, const llvm::DataLayout& layout) {
  const auto* pointer = llvm::dyn_cast<llvm::LoadInst>(llvm::getUnderlyingObject(&address, /*MaxLookup=*/0));
  if (!pointer) return std::nullopt;
  std::int64_t place = 0, list_place = 0;
  const Value* base = llvm::GetPointerBaseWithConstantOffset(pointer->getPointerOperand(), place, layout);
  const auto* list = llvm::dyn_cast<llvm::LoadInst>(base);
  if (!list) return std::nullopt;
  const Value* state = llvm::GetPointerBaseWithConstantOffset(list->getPointerOperand(), list_place, layout);
  if (state != pointer->getFunction()->getArg(0) || list_place != offsetof(ThreadgroupState, arguments)) {
    return std::nullopt;
  }
  const auto size = static_cast<std::int64_t>(sizeof(void*));
  if (place < 0 || place % size != 0 || place / size >= cpu::most_streams) return std::nullopt;
  return static_cast<unsigned>(place / size);
}

struct RowStore {
  llvm::Instruction* store;
  Value *row, *address, *mask;  // mask: null if all lanes write
};

std::optional<RowStore> row_store(llvm::Instruction& instruction, const llvm::DataLayout& layout) {
  RowStore found{&instruction, nullptr, nullptr, nullptr};
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction); store && store->isSimple()) {
    found.row = store->getValueOperand();
    found.address = store->getPointerOperand();
  } else if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
             call && call->getIntrinsicID() == llvm::Intrinsic::masked_store) {
    found.row = call->getArgOperand(0);
    found.address = call->getArgOperand(1);
    found.mask = call->getArgOperand(2);
    if (llvm::isa<llvm::Constant>(found.mask)) return std::nullopt;  // rows with gaps
  }
  if (!found.row || !found.row->getType()->isVectorTy()) return std::nullopt;
  if (layout.getTypeStoreSize(found.row->getType()).getFixedValue() % line != 0) return std::nullopt;
  return found;
}

// Whether a function is called that knows the threadgroup's state: a part of the kernel that stays a call.
bool calls_kernel_code(const llvm::Instruction& instruction, llvm::ArrayRef<const llvm::Function*> other_forms) {
  const llvm::Function* callee = ir::called_definition(instruction);
  return callee && !llvm::is_contained(other_forms, callee) &&
         llvm::is_contained(instruction.operands(), instruction.getFunction()->getArg(0));
}

// What is not known does.
bool may_order_memory(const llvm::Instruction& instruction, llvm::ArrayRef<const llvm::Function*> other_forms) {
  return llvm::isa<llvm::FenceInst>(instruction) || instruction.isAtomic() ||
         calls_kernel_code(instruction, other_forms);
}

void stream(const RowStore& row, unsigned argument) {
  llvm::Function& function = *row.store->getFunction();
  llvm::IRBuilder<> builder(row.store);
  const bool is_far = threadgroup_step(*row.address) == ThreadgroupStep::far;
  Value* place = builder.CreateConstInBoundsGEP1_64(
      builder.getInt8Ty(), function.getArg(0),
      is_far ? offsetof(ThreadgroupState, far_streams) : offsetof(ThreadgroupState, streams));
  Value* streams = builder.CreateLoad(builder.getInt64Ty(), place);
  Value* begins_line = builder.CreateICmpEQ(
      builder.CreateAnd(builder.CreatePtrToInt(row.address, builder.getInt64Ty()), line - 1), builder.getInt64(0));
  Value* streamed = builder.CreateICmpNE(builder.CreateAnd(streams, std::uint64_t{1} << argument), builder.getInt64(0));
  Value* condition = builder.CreateAnd(streamed, begins_line);
  if (row.mask) {
    const unsigned count = llvm::cast<llvm::FixedVectorType>(row.mask->getType())->getNumElements();
    Value* all = builder.CreateICmpEQ(builder.CreateBitCast(row.mask, builder.getIntNTy(count)),
                                      llvm::ConstantInt::getAllOnesValue(builder.getIntNTy(count)));
    condition = builder.CreateAnd(condition, all);
  }
  llvm::Instruction *past = nullptr, *through = nullptr;
  llvm::SplitBlockAndInsertIfThenElse(condition, row.store->getIterator(), &past, &through);
  builder.SetInsertPoint(past);
  llvm::StoreInst* made = builder.CreateAlignedStore(row.row, row.address, llvm::Align(line));
  made->setMetadata(llvm::LLVMContext::MD_nontemporal,
                    llvm::MDNode::get(function.getContext(), llvm::ConstantAsMetadata::get(builder.getInt32(1))));
  made->setDebugLoc(row.store->getDebugLoc());
  row.store->moveBefore(through->getIterator());
}

}  // namespace

void stream_stores(llvm::Function& simdgroup, llvm::ArrayRef<const llvm::Function*> other_forms) {
  const llvm::DataLayout& layout = simdgroup.getParent()->getDataLayout();
  llvm::SmallVector<std::pair<RowStore, unsigned>, 8> rows;
  llvm::DenseSet<unsigned> read;
  for (llvm::Instruction& instruction : llvm::instructions(simdgroup)) {
    if (may_order_memory(instruction, other_forms)) return;
    if (const auto row = row_store(instruction, layout)) {
      if (const auto argument = argument_of(*row->address, layout)) rows.emplace_back(*row, *argument);
    }
    if (!instruction.mayReadFromMemory()) continue;
    for (const llvm::Use& operand : instruction.operands()) {
      if (!operand->getType()->isPtrOrPtrVectorTy()) continue;
      if (const auto argument = argument_of(*operand, layout)) read.insert(*argument);
    }
  }
  for (const auto& [row, argument] : rows) {
    if (!read.contains(argument)) stream(row, argument);
  }
}

}  // namespace metalloid::engines::simd
