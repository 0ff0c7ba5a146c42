#include "engines/cpu_shared/passes/check_bounds.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "checker/code/screen.h"
#include "engines/cpu_shared/kernel_abi.h"
#include "engines/cpu_shared/passes/thread_state.h"
#include "ir/bounds/check_bounds.h"
#include "ir/bounds/tile_accesses.h"
#include "ir/support/pass_managers.h"
#include "ir/support/pointer_roots.h"

namespace metalloid::engines::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

// A kernel's arguments come out of the state's list, or out of a tensor's descriptor.
class Arguments final : public ir::KernelMemory {
 public:
  Arguments(llvm::Function& function, const KernelInfo& info)
      : function_(function),
        info_(info),
        layout_(function.getDataLayout()),
        is_entry_(function.arg_size() > 0 && function.hasExternalLinkage()) {}

  std::optional<unsigned> find(Value& root) const override;
  Extent extent_of(unsigned argument) override;
  Numbered of_number(llvm::IRBuilderBase& builder, Value* number) override;
  bool is_of_start(llvm::LoadInst& load) const override;
  llvm::SmallVector<ir::Access, 3> other_accesses_of(Instruction& instruction) const override;

 private:
  std::pair<Value*, std::uint64_t> apart(Value* address) const;
  std::optional<unsigned> in_list(Value& value) const;
  std::optional<unsigned> elements_of(Value& value) const;

  llvm::Function& function_;
  const KernelInfo& info_;
  const llvm::DataLayout& layout_;
  const bool is_entry_;
  llvm::DenseMap<unsigned, Extent> extents_;
  Instruction* list_ = nullptr;
  Value* state_ = nullptr;
};

std::optional<unsigned> Arguments::find(Value& root) const {
  if (!is_entry_) return std::nullopt;
  if (const auto direct = in_list(root)) {
    // What a tensor's descriptor is belongs to nobody but the engine.
    if (info_.arguments[*direct].kind == ArgumentKind::tensor) return std::nullopt;
    return direct;
  }
  const auto descriptor = elements_of(root);
  if (descriptor && info_.arguments[*descriptor].kind == ArgumentKind::tensor) return descriptor;
  return std::nullopt;
}

ir::KernelMemory::Extent Arguments::extent_of(unsigned argument) {
  if (const auto found = extents_.find(argument); found != extents_.end()) return found->second;
  llvm::BasicBlock& first = function_.getEntryBlock();
  llvm::IRBuilder<> builder(&first, first.getFirstNonPHIOrDbgOrAlloca());
  const auto place = [&](Value* base, std::size_t offset) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset);
  };
  const auto load = [&](llvm::Type* type, Value* address, const char* name) {
    llvm::LoadInst* made = builder.CreateLoad(type, address, name);
    made->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(function_.getContext(), {}));
    return made;
  };
  if (!list_) {
    Value* address = place(function_.getArg(0), offsetof(ThreadgroupState, argument_bytes));
    list_ = load(builder.getPtrTy(), address, "argument_bytes");
  }
  builder.SetInsertPoint(list_->getNextNode());
  constexpr std::size_t word = sizeof(std::uint64_t);
  Value* bytes = load(builder.getInt64Ty(), place(list_, 2 * word * argument), "bytes");
  return extents_[argument] = {bytes, place(list_, 2 * word * argument + word)};
}

ir::KernelMemory::Numbered Arguments::of_number(llvm::IRBuilderBase& builder, Value* number) {
  if (!state_) state_ = is_entry_ ? function_.getArg(0) : state_in_call(function_);
  llvm::Type *word = builder.getInt64Ty(), *pointer = builder.getPtrTy();
  const auto from_state = [&](std::size_t offset) {
    return builder.CreateLoad(pointer, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), state_, offset));
  };
  Value* extents = from_state(offsetof(ThreadgroupState, argument_bytes));
  Value* entry = builder.CreateInBoundsGEP(llvm::ArrayType::get(word, 2), extents, number);
  Value* bytes = builder.CreateLoad(word, entry);
  Value* front = builder.CreateConstInBoundsGEP1_64(word, entry, 1);
  Value* list = from_state(offsetof(ThreadgroupState, arguments));
  return {{bytes, front}, builder.CreateLoad(word, builder.CreateInBoundsGEP(word, list, number))};
}

// What comes out of the state itself.
bool Arguments::is_of_start(llvm::LoadInst& load) const {
  if (!is_entry_) return false;
  Value* address = load.getPointerOperand();
  while (Value* below = ir::pointer_below(address)) address = below;
  return address == function_.getArg(0);
}

// Tiles, and the checker's questions about places (checker/code/screen.h), which are no use outside of the memory.
llvm::SmallVector<ir::Access, 3> Arguments::other_accesses_of(Instruction& instruction) const {
  auto* question = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = question ? question->getCalledFunction() : nullptr;
  if (!callee) return {};
  if (!callee->getName().starts_with(llvm::StringRef(checker::screen_access_name))) return ir::tile_accesses(*question);
  return {{question, question->getArgOperand(0), question->getArgOperand(2), ir::AccessKind::read}};
}

// The base of an address and how far behind it the address is.
std::pair<Value*, std::uint64_t> Arguments::apart(Value* address) const {
  llvm::APInt offset(64, 0);
  Value* base = address->stripAndAccumulateConstantOffsets(layout_, offset, /*AllowNonInbounds=*/true);
  return {base, offset.getZExtValue()};
}

std::optional<unsigned> Arguments::in_list(Value& value) const {
  auto* load = llvm::dyn_cast<llvm::LoadInst>(&value);
  if (!load || !load->getType()->isPointerTy()) return std::nullopt;
  const auto [list, place] = apart(load->getPointerOperand());
  auto* list_load = llvm::dyn_cast<llvm::LoadInst>(list);
  if (!list_load || place / sizeof(void*) >= info_.arguments.size()) return std::nullopt;
  const auto [state, offset] = apart(list_load->getPointerOperand());
  if (state != function_.getArg(0) || offset != offsetof(ThreadgroupState, arguments)) return std::nullopt;
  return static_cast<unsigned>(place / sizeof(void*));
}

// The first word of a descriptor, or of the thread's copy.
std::optional<unsigned> Arguments::elements_of(Value& value) const {
  auto* load = llvm::dyn_cast<llvm::LoadInst>(&value);
  if (!load) return std::nullopt;
  const auto [base, offset] = apart(load->getPointerOperand());
  if (offset != 0) return std::nullopt;
  if (const auto argument = in_list(*base)) return argument;
  if (!llvm::isa<llvm::AllocaInst>(base)) return std::nullopt;
  std::optional<unsigned> source;
  for (llvm::User* user : base->users()) {
    auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(user);
    if (!copy) continue;
    if (copy->getRawDest() != base || source) return std::nullopt;
    source = in_list(*copy->getRawSource());
    if (!source) return std::nullopt;
  }
  return source;
}

}  // namespace

std::unique_ptr<ir::KernelMemory> kernel_memory_of(llvm::Function& function, const KernelInfo& info) {
  return std::make_unique<Arguments>(function, info);
}

void check_bounds(llvm::Function& function, const KernelInfo& info, llvm::FunctionAnalysisManager& analyses) {
  Arguments arguments(function, info);
  ir::check_bounds(function, info, arguments, analyses);
}

void check_bounds(llvm::Module& module, const KernelInfo& info) {
  ir::PassManagers managers;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    check_bounds(function, info, managers.functions);
    managers.functions.invalidate(function, llvm::PreservedAnalyses::none());
  }
}

}  // namespace metalloid::engines::cpu
