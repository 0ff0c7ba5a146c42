#include "engines/cuda/passes/lower_logging.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <array>
#include <cstddef>

#include "engines/cuda/kernel_abi.h"
#include "engines/log.h"
#include "ir/bounds/accesses.h"
#include "ir/operations.h"
#include "support/address_spaces.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;

class Writer {
 public:
  explicit Writer(llvm::LLVMContext& context) : builder_(context), scope_(context.getOrInsertSyncScopeID("device")) {}

  void write(llvm::CallInst& call, const Entry& entry) {
    builder_.SetInsertPoint(&call);
    llvm::Type* word = builder_.getInt64Ty();
    llvm::Type* pointer = builder_.getPtrTy(device_space);
    Value* report = load_from_head(builder_, entry, offsetof(LaunchHead, report), pointer);
    Value* log = builder_.CreateAlignedLoad(pointer, at(report, offsetof(Report, log)), llvm::Align(8));
    Value* count = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, call.getArgOperand(6),
                                                  builder_.getInt32(most_log_arguments));
    Value* argument_bytes =
        builder_.CreateMul(builder_.CreateZExt(count, word), builder_.getInt64(sizeof(LogArgument)));
    Value* bytes = builder_.CreateAdd(argument_bytes, builder_.getInt64(sizeof(LogRecord)));
    Value* place = add(at(log, offsetof(LogHead, used)), bytes);
    Value* has_room = builder_.CreateICmpULE(builder_.CreateAdd(place, bytes), builder_.getInt64(log_capacity));
    llvm::Instruction *fits = nullptr, *lost = nullptr;
    llvm::SplitBlockAndInsertIfThenElse(has_room, call.getIterator(), &fits, &lost);

    builder_.SetInsertPoint(lost);
    add(at(log, offsetof(LogHead, lost)), builder_.getInt64(1));

    builder_.SetInsertPoint(fits);
    Value* record = at(builder_.CreateInBoundsGEP(builder_.getInt8Ty(), log, place), sizeof(LogHead));
    const auto put = [&](std::size_t offset, Value* value) {
      if (value->getType()->isPointerTy()) value = builder_.CreatePtrToInt(value, word);
      builder_.CreateAlignedStore(value, at(record, offset), llvm::Align(value->getType()->isIntegerTy(64) ? 8 : 4));
    };
    put(offsetof(LogRecord, count), count);
    put(offsetof(LogRecord, thread), call.getArgOperand(0));
    put(offsetof(LogRecord, level), call.getArgOperand(1));
    const ReportedPlace thread = place_again(builder_, entry);
    for (std::size_t d = 0; d < 3; ++d) put(offsetof(LogRecord, group) + 4 * d, thread.group[d]);
    put(offsetof(LogRecord, where), builder_.CreateGlobalString(ir::line_of(call), "place"));
    put(offsetof(LogRecord, subsystem), call.getArgOperand(2));
    put(offsetof(LogRecord, category), call.getArgOperand(3));
    put(offsetof(LogRecord, format), call.getArgOperand(4));
    builder_.CreateMemCpy(at(record, sizeof(LogRecord)), llvm::Align(8), call.getArgOperand(5), llvm::Align(8),
                          argument_bytes);
    put(offsetof(LogRecord, bytes), builder_.CreateTrunc(bytes, builder_.getInt32Ty()));

    // The host looks at its word when the kernel is done.
    builder_.SetInsertPoint(&call);
    Value* host = load_from_head(builder_, entry, offsetof(LaunchHead, host), pointer);
    builder_.CreateStore(builder_.getInt32(1), at(host, offsetof(HostWords, is_reported)), /*isVolatile=*/true);
    call.eraseFromParent();
  }

 private:
  Value* at(Value* base, std::size_t offset) {
    return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), base, offset);
  }
  Value* add(Value* address, Value* value) {
    return builder_.CreateAtomicRMW(llvm::AtomicRMWInst::Add, address, value, llvm::MaybeAlign(8),
                                    llvm::AtomicOrdering::Monotonic, scope_);
  }

  llvm::IRBuilder<> builder_;
  const llvm::SyncScope::ID scope_;
};

}  // namespace

bool lower_logging(llvm::Module& module, llvm::ArrayRef<Entry> functions) {
  llvm::Function* operation = module.getFunction(llvm::StringRef(ir::log_name));
  if (!operation || operation->use_empty()) return false;
  Writer writer(module.getContext());
  for (llvm::User* user : llvm::make_early_inc_range(operation->users())) {
    auto* call = llvm::cast<llvm::CallInst>(user);
    const auto* entry =
        llvm::find_if(functions, [&](const Entry& each) { return each.function == call->getFunction(); });
    writer.write(*call, *entry);
  }
  return true;
}

}  // namespace metalloid::engines::cuda
