#include "engines/cuda/passes/forget_results.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "support/address_spaces.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;
using Operation = llvm::AtomicRMWInst;
using Run = llvm::SmallVector<Operation*, 4>;  // of neighbours in memory, in order

constexpr std::size_t widest_run = 4;
constexpr std::uint64_t float_bytes = 4;

// The operation and its type in PTX, without the width.
std::optional<std::string> name_of(const Operation& operation) {
  llvm::Type* type = operation.getType();
  const bool is_integer = type->isIntegerTy(32) || type->isIntegerTy(64);
  const unsigned bits = type->getScalarSizeInBits();
  const auto named = [&](const char* name, char kind) -> std::optional<std::string> {
    if (!is_integer) return std::nullopt;
    return fmt::format("{}.{}{}", name, kind, bits);
  };
  switch (operation.getOperation()) {
    case Operation::FAdd: return type->isFloatTy() ? std::optional<std::string>("add.f32") : std::nullopt;
    case Operation::Add: return named("add", 'u');
    case Operation::And: return named("and", 'b');
    case Operation::Or: return named("or", 'b');
    case Operation::Xor: return named("xor", 'b');
    case Operation::Max: return named("max", 's');
    case Operation::UMax: return named("max", 'u');
    case Operation::Min: return named("min", 's');
    case Operation::UMin: return named("min", 'u');
    default: return std::nullopt;
  }
}

const char* constraint_of(const llvm::Type& type) {
  if (type.isFloatTy()) return "f";
  return type.isIntegerTy(64) ? "l" : "r";
}

bool forgets(const Operation& operation) {
  llvm::SmallVector<llvm::StringRef, 8> scopes;
  operation.getContext().getSyncScopeNames(scopes);
  return operation.use_empty() && operation.getOrdering() == llvm::AtomicOrdering::Monotonic &&
         !operation.isVolatile() && operation.getPointerAddressSpace() == device_space &&
         scopes[operation.getSyncScopeID()] == "device" && name_of(operation);
}

void reduce(llvm::IRBuilder<>& builder, const std::string& name, Value* address, llvm::ArrayRef<Value*> values) {
  std::string operands = "$1", constraints = "l";
  llvm::SmallVector<llvm::Type*, 5> types = {address->getType()};
  llvm::SmallVector<Value*, 5> arguments = {address};
  for (Value* value : values) {
    if (arguments.size() > 1) operands += fmt::format(", ${}", arguments.size());
    constraints += fmt::format(",{}", constraint_of(*value->getType()));
    types.push_back(value->getType());
    arguments.push_back(value);
  }
  if (values.size() > 1) operands = "{" + operands + "}";
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), types, /*isVarArg=*/false);
  builder.CreateCall(llvm::InlineAsm::get(type, fmt::format("red.relaxed.gpu.global.{} [$0], {};", name, operands),
                                          constraints + ",~{memory}", /*hasSideEffects=*/true),
                     arguments);
}

void reduce(llvm::IRBuilder<>& builder, const Operation& operation) {
  reduce(builder, *name_of(operation), const_cast<Value*>(operation.getPointerOperand()),
         {const_cast<Value*>(operation.getValOperand())});
}

// Additions of floats, which may be done where the last one stands.
class Runs {
 public:
  explicit Runs(llvm::BasicBlock& block) : layout_(block.getDataLayout()) {
    for (llvm::Instruction& instruction : block) {
      auto* operation = llvm::dyn_cast<Operation>(&instruction);
      if (operation && forgets(*operation) && operation->getOperation() == Operation::FAdd) {
        add(*operation);
      } else if (instruction.mayReadOrWriteMemory() && !instruction.hasMetadata(llvm::LLVMContext::MD_invariant_load)) {
        end();
      }
    }
    end();
  }
  const llvm::SmallVector<Run, 2>& found() const { return found_; }

 private:
  void add(Operation& operation) {
    llvm::APInt offset(layout_.getIndexTypeSizeInBits(operation.getPointerOperand()->getType()), 0);
    const Value* base =
        operation.getPointerOperand()->stripAndAccumulateConstantOffsets(layout_, offset, /*AllowNonInbounds=*/true);
    const std::int64_t place = offset.getSExtValue();
    if (run_.empty() || base != base_ || place != next_) {
      end();
      base_ = base;
    }
    run_.push_back(&operation);
    next_ = place + static_cast<std::int64_t>(float_bytes);
    if (run_.size() == widest_run) end();
  }
  void end() {
    if (run_.size() == widest_run) found_.push_back(run_);
    run_.clear();
  }

  const llvm::DataLayout& layout_;
  const Value* base_ = nullptr;
  std::int64_t next_ = 0;
  Run run_;
  llvm::SmallVector<Run, 2> found_;
};

void reduce_together(const Run& run) {
  llvm::IRBuilder<> builder(run.back());
  Value* address = run.front()->getPointerOperand();
  Value* rest = builder.CreateAnd(builder.CreatePtrToInt(address, builder.getInt64Ty()),
                                  builder.getInt64(widest_run * float_bytes - 1));
  llvm::Instruction *together = nullptr, *alone = nullptr;
  llvm::SplitBlockAndInsertIfThenElse(builder.CreateICmpEQ(rest, builder.getInt64(0)), run.back(), &together, &alone);
  llvm::SmallVector<Value*, 4> values;
  for (Operation* each : run) values.push_back(each->getValOperand());
  builder.SetInsertPoint(together);
  builder.SetCurrentDebugLocation(run.front()->getDebugLoc());
  reduce(builder, "add.v4.f32", address, values);
  builder.SetInsertPoint(alone);
  for (Operation* each : run) {
    builder.SetCurrentDebugLocation(each->getDebugLoc());
    reduce(builder, *each);
  }
  for (Operation* each : run) each->eraseFromParent();
}

}  // namespace

void forget_results(llvm::Module& module, const Target& target) {
  for (llvm::Function& function : module) {
    llvm::SmallVector<Run, 2> runs;
    if (target.has_vector_reductions()) {
      for (llvm::BasicBlock& block : function) llvm::append_range(runs, Runs(block).found());
    }
    for (const Run& run : runs) reduce_together(run);
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* operation = llvm::dyn_cast<Operation>(&instruction);
      if (!operation || !forgets(*operation)) continue;
      llvm::IRBuilder<> builder(operation);
      reduce(builder, *operation);
      operation->eraseFromParent();
    }
  }
}

}  // namespace metalloid::engines::cuda
