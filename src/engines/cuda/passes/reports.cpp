#include "engines/cuda/passes/reports.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Transforms/Utils/Local.h>

#include "ir/bounds/accesses.h"
#include "support/address_spaces.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;

constexpr std::array<std::size_t, 7> places = {
    offsetof(Report, offset), offsetof(Report, bytes), offsetof(Report, available), offsetof(Report, front),
    offsetof(Report, what),   offsetof(Report, first), offsetof(Report, last)};

}  // namespace

Reports::Reports(llvm::ArrayRef<Entry> functions) {
  for (const Entry& entry : functions) writers_[entry.function] = {.entry = entry};
}

void Reports::write(llvm::IRBuilderBase& builder, llvm::CallInst& check) {
  Value* front = builder.CreateLoad(builder.getInt64Ty(), check.getArgOperand(3));
  write(builder, {check.getArgOperand(0), check.getArgOperand(1), check.getArgOperand(2), front, check.getArgOperand(4),
                  check.getArgOperand(5), check.getArgOperand(6)});
}

void Reports::write(llvm::IRBuilderBase& builder, Failure failure, const llvm::Instruction& place) {
  Value *none = builder.getInt64(0), *text = builder.CreateGlobalString(ir::line_of(place), "place");
  write(builder, {builder.getInt64(static_cast<std::uint64_t>(failure)), none, none, none, none, text, none});
}

void Reports::write(llvm::IRBuilderBase& builder, const std::array<Value*, count>& values) {
  llvm::BasicBlock* from = builder.GetInsertBlock();
  Writer& writer = writers_[from->getParent()];
  if (!writer.block) make(writer);
  for (std::size_t i = 0; i < count; ++i) {
    Value* value = values[i];
    if (value->getType()->isPointerTy()) value = builder.CreatePtrToInt(value, builder.getInt64Ty());
    writer.merged[i]->addIncoming(value, from);
  }
  builder.CreateBr(writer.block);
}

void Reports::make(Writer& writer) {
  const Entry& entry = writer.entry;
  llvm::LLVMContext& context = entry.function->getContext();
  writer.block = llvm::BasicBlock::Create(context, "report", entry.function);
  auto* write = llvm::BasicBlock::Create(context, "write_report", entry.function);
  auto* end = llvm::BasicBlock::Create(context, "end_thread", entry.function);
  llvm::IRBuilder<> builder(writer.block);
  for (llvm::PHINode*& merged : writer.merged) merged = builder.CreatePHI(builder.getInt64Ty(), 2);
  llvm::Type* pointer = builder.getPtrTy(device_space);
  Value* report = load_from_head(builder, entry, offsetof(LaunchHead, report), pointer);
  const llvm::SyncScope::ID scope = context.getOrInsertSyncScopeID("device");
  Value* taken = builder.CreateAtomicRMW(llvm::AtomicRMWInst::Xchg, report, builder.getInt32(1), llvm::MaybeAlign(4),
                                         llvm::AtomicOrdering::Monotonic, scope);
  builder.CreateCondBr(builder.CreateICmpEQ(taken, builder.getInt32(0)), write, end);

  builder.SetInsertPoint(write);
  const auto put = [&](std::size_t place, Value* value) {
    builder.CreateStore(value, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), report, place));
  };
  for (std::size_t i = 0; i < count; ++i) put(places[i], writer.merged[i]);
  const ReportedPlace place = place_again(builder, entry);
  put(offsetof(Report, thread), place.index);
  for (std::size_t d = 0; d < 3; ++d) put(offsetof(Report, group) + 4 * d, place.group[d]);
  builder.CreateFence(llvm::AtomicOrdering::AcquireRelease);
  Value* host = load_from_head(builder, entry, offsetof(LaunchHead, host), pointer);
  builder.CreateStore(builder.getInt32(1), host, /*isVolatile=*/true);
  builder.CreateBr(end);

  builder.SetInsertPoint(end);
  builder.CreateIntrinsic(llvm::Intrinsic::nvvm_exit, {});
  builder.CreateUnreachable();
}

void lower_traps(llvm::Module& module, Reports& reports) {
  llvm::SmallVector<llvm::CallInst*, 8> traps;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (call &&
          (call->getIntrinsicID() == llvm::Intrinsic::trap || call->getIntrinsicID() == llvm::Intrinsic::ubsantrap)) {
        traps.push_back(call);
      }
    }
  }
  for (llvm::CallInst* trap : traps) {
    if (!llvm::isa<llvm::UnreachableInst>(trap->getNextNode())) llvm::changeToUnreachable(trap->getNextNode());
    llvm::Instruction* end = trap->getNextNode();
    llvm::IRBuilder<> builder(end);
    reports.write(builder, Failure::trap, *trap);
    end->eraseFromParent();
    trap->eraseFromParent();
  }
}

}  // namespace metalloid::engines::cuda
