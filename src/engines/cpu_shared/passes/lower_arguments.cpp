#include "engines/cpu_shared/passes/lower_arguments.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "engines/cpu_shared/kernel_abi.h"
#include "engines/cpu_shared/passes/thread_state.h"
#include "ir/operations.h"
#include "ir/support/builtin_values.h"
#include "ir/support/pass_down.h"
#include "metalloid/error.h"

namespace metalloid::engines::cpu {
namespace {

using ir::Triple;
using llvm::Value;

class EntryBuilder {
 public:
  EntryBuilder(llvm::Module& module, llvm::Function& kernel, const KernelInfo& info, EntryForm form)
      : module_(module), kernel_(kernel), info_(info), form_(form), builder_(module.getContext()) {
    llvm::Type* pointer = builder_.getPtrTy();
    llvm::Type* number = builder_.getInt32Ty();
    llvm::SmallVector<llvm::Type*, 4> parameters = {pointer};
    if (form == EntryForm::one_thread) parameters.append(3, number);
    if (form == EntryForm::one_lane) parameters.push_back(number);
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(), parameters, false);
    const llvm::StringRef name = form == EntryForm::one_thread ? llvm::StringRef(run_thread_name)
                                 : form == EntryForm::one_lane ? llvm::StringRef(lane_name)
                                                               : llvm::StringRef(run_threadgroup_name);
    entry_ = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
    entry_->addFnAttr(llvm::Attribute::NoUnwind);
    entry_->addFnAttr(llvm::Attribute::NullPointerIsValid);
    entry_->addParamAttr(0, llvm::Attribute::NonNull);
    state_ = entry_->getArg(0);
    builder_.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", entry_));
    grid_ = load_triple(offsetof(ThreadgroupState, threads_per_grid));
    groups_ = load_triple(offsetof(ThreadgroupState, threadgroups_per_grid));
    nominal_ = load_triple(offsetof(ThreadgroupState, dispatch_threads_per_threadgroup));
    group_ = load_triple(offsetof(ThreadgroupState, threadgroup_position_in_grid));
    actual_ = load_triple(offsetof(ThreadgroupState, threads_per_threadgroup));
    if (form == EntryForm::one_thread) {
      position_ = {entry_->getArg(1), entry_->getArg(2), entry_->getArg(3)};
      index_ = index_of_position();
    }
    prepare_arguments();
    if (form == EntryForm::threads_in_loops) {
      call_in_loops();
    } else {
      if (form == EntryForm::one_lane) {
        for (unsigned d = 0; d < 3; ++d) position_[d] = ask(position_names[d]);
        index_ = ask(index_name);
      }
      call_kernel();
      builder_.CreateRetVoid();
    }
    inline_kernel();
  }

  Entry entry() { return {entry_, index_}; }

 private:
  Value* constant(std::uint32_t value) { return builder_.getInt32(value); }

  // What no store of a kernel changes.
  Value* mark(llvm::LoadInst* load) {
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(module_.getContext(), {}));
    return load;
  }

  Triple load_triple(std::size_t offset) {
    Triple result;
    for (unsigned i = 0; i < 3; ++i) {
      Value* address = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), state_, offset + 4 * i);
      result[i] = mark(builder_.CreateLoad(builder_.getInt32Ty(), address));
    }
    return result;
  }

  Value* ask(std::string_view name) {
    auto callee = module_.getOrInsertFunction(llvm::StringRef(name), builder_.getInt32Ty());
    auto* function = llvm::cast<llvm::Function>(callee.getCallee());
    function->setMemoryEffects(llvm::MemoryEffects::none());
    function->addFnAttr(llvm::Attribute::NoUnwind);
    function->addFnAttr(llvm::Attribute::WillReturn);
    llvm::CallInst* answer = builder_.CreateCall(callee);
    answer->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, most_threads())));
    return answer;
  }

  // Lanes that take no part count, too: whole simdgroups.
  std::uint32_t most_threads() const {
    const std::uint32_t own = info_.max_total_threads_per_threadgroup;
    const std::uint32_t most = own != 0 ? std::min(own, max_threads_per_threadgroup) : max_threads_per_threadgroup;
    return (most + simdgroup_width - 1) / simdgroup_width * simdgroup_width;
  }

  // Pointers are loaded once, and vector built-ins get memory, before any loop.
  void prepare_arguments() {
    Value* list = mark(builder_.CreateLoad(
        builder_.getPtrTy(),
        builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), state_, offsetof(ThreadgroupState, arguments))));
    for (llvm::Argument& parameter : kernel_.args()) {
      const ArgumentInfo& argument = info_.arguments[parameter.getArgNo()];
      Value* value = nullptr;
      if (argument.kind == ArgumentKind::builtin) {
        if (!parameter.getType()->isIntegerTy() || argument.type.rows > 1) {
          llvm::Type* type = parameter.hasByValAttr() ? parameter.getParamByValType() : parameter.getType();
          llvm::AllocaInst* memory = builder_.CreateAlloca(type, nullptr, argument.name);
          memory->setAlignment(std::max(parameter.getParamAlign().valueOrOne(), llvm::Align(16)));
          value = memory;
        }
      } else if (parameter.getType()->isPointerTy()) {
        llvm::LoadInst* pointer = builder_.CreateLoad(
            parameter.getType(), builder_.CreateConstInBoundsGEP1_64(builder_.getPtrTy(), list, parameter.getArgNo()),
            argument.name);
        note_reference(*pointer, argument);
        value = mark(pointer);
        if (parameter.hasByValAttr()) value = copy(value, parameter);
      } else {
        throw Error(ErrorCode::unsupported, fmt::format("argument '{}' of kernel '{}' has a type that cannot be bound",
                                                        argument.name, info_.name));
      }
      prepared_.push_back(value);
    }
  }

  // Whatever is bound to a reference has the size of its type (runtime/dispatch/plan.cpp), so that it can be read
  // early, once for all conditions that ask for it.
  void note_reference(llvm::LoadInst& pointer, const ArgumentInfo& argument) {
    if (argument.kind != ArgumentKind::buffer || !argument.is_reference || !argument.is_active || !argument.is_used)
      return;
    llvm::LLVMContext& context = module_.getContext();
    auto* size = llvm::ConstantAsMetadata::get(builder_.getInt64(argument.type.size));
    pointer.setMetadata(llvm::LLVMContext::MD_dereferenceable, llvm::MDNode::get(context, size));
  }

  // A tensor's descriptor, out of reach of the kernel's stores: what it holds is then the same in every thread.
  Value* copy(Value* source, llvm::Argument& parameter) {
    llvm::AllocaInst* memory = builder_.CreateAlloca(parameter.getParamByValType());
    llvm::Align alignment = parameter.getParamAlign().valueOrOne();
    memory->setAlignment(std::max(memory->getAlign(), alignment));
    std::uint64_t size = module_.getDataLayout().getTypeAllocSize(parameter.getParamByValType());
    builder_.CreateMemCpy(memory, memory->getAlign(), source, alignment, size);
    return memory;
  }

  Value* builtin_argument(llvm::Argument& parameter, Value* memory) {
    const ArgumentInfo& argument = info_.arguments[parameter.getArgNo()];
    const ir::ThreadPlace place{grid_, groups_, nominal_, group_, actual_, position_, index_};
    return ir::builtin_argument(builder_, place, argument, parameter.getType(), memory);
  }

  Value* index_of_position() {
    const auto multiply = [&](Value* a, Value* b) { return builder_.CreateMul(a, b, "", /*HasNUW=*/true); };
    const auto add = [&](Value* a, Value* b) { return builder_.CreateAdd(a, b, "", /*HasNUW=*/true); };
    return add(position_[0], multiply(actual_[0], add(position_[1], multiply(actual_[1], position_[2]))));
  }

  // At the current place, for the thread at position_.
  void call_kernel() {
    if (!index_) index_ = index_of_position();
    llvm::SmallVector<Value*, 16> arguments;
    for (llvm::Argument& parameter : kernel_.args()) {
      Value* prepared = prepared_[parameter.getArgNo()];
      bool is_builtin = info_.arguments[parameter.getArgNo()].kind == ArgumentKind::builtin;
      arguments.push_back(is_builtin ? builtin_argument(parameter, prepared) : prepared);
    }
    call_ = builder_.CreateCall(&kernel_, arguments);
    call_->setAttributes(kernel_.getAttributes());
  }

  // Every dimension is at least 1, so each loop tests at its end.
  void call_in_loops() {
    llvm::LLVMContext& context = module_.getContext();
    std::array<llvm::BasicBlock*, 3> bodies;
    std::array<llvm::PHINode*, 3> counters;
    constexpr std::array<const char*, 3> names = {"x", "y", "z"};
    for (int d = 2; d >= 0; --d) {
      llvm::BasicBlock* before = builder_.GetInsertBlock();
      bodies[d] = llvm::BasicBlock::Create(context, fmt::format("{}.body", names[d]), entry_);
      builder_.CreateBr(bodies[d]);
      builder_.SetInsertPoint(bodies[d]);
      counters[d] = builder_.CreatePHI(builder_.getInt32Ty(), 2, names[d]);
      counters[d]->addIncoming(constant(0), before);
      position_[d] = counters[d];
    }
    call_kernel();
    for (int d = 0; d < 3; ++d) {
      llvm::BasicBlock* after = llvm::BasicBlock::Create(context, fmt::format("{}.end", names[d]), entry_);
      Value* next = builder_.CreateAdd(counters[d], constant(1), "", /*HasNUW=*/true, /*HasNSW=*/true);
      counters[d]->addIncoming(next, builder_.GetInsertBlock());
      builder_.CreateCondBr(builder_.CreateICmpEQ(next, actual_[d]), after, bodies[d]);
      builder_.SetInsertPoint(after);
    }
    builder_.CreateRetVoid();
  }

  // Without a location of its own the call leaves the kernel's locations as they are, scope included.
  void inline_kernel() {
    entry_->setSubprogram(kernel_.getSubprogram());
    kernel_.setSubprogram(nullptr);
    llvm::InlineFunctionInfo inlining;
    llvm::InlineResult result = llvm::InlineFunction(*call_, inlining);
    if (!result.isSuccess()) {
      throw Error(ErrorCode::internal,
                  fmt::format("cannot inline kernel '{}': {}", info_.name, result.getFailureReason()));
    }
    kernel_.eraseFromParent();
    answer_thread_queries();
    // Lanes in step report what they find wherever they are.
    pass_state_down(module_, *entry_, form_ == EntryForm::one_lane ? StateUsers::all : StateUsers::those_that_need_it);
  }

  void answer_thread_queries() {
    llvm::Function* query = module_.getFunction(llvm::StringRef(ir::thread_index_name));
    if (!query) return;
    llvm::SetVector<llvm::Function*> askers;
    for (llvm::User* user : query->users()) {
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(user)) askers.insert(call->getFunction());
    }
    askers.remove(entry_);
    llvm::SmallVector<llvm::Value*, 2> unanswered;  // in functions that others know by their addresses
    auto indices = ir::pass_down(
        module_, askers.getArrayRef(), builder_.getInt32Ty(), "thread_index", [&](llvm::Function& function) -> Value* {
          if (&function == entry_) return index_;
          llvm::IRBuilder<> start(&function.getEntryBlock(), function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
          return unanswered.emplace_back(start.CreateCall(query));
        });
    indices[entry_] = index_;
    for (llvm::User* user : llvm::make_early_inc_range(query->users())) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      if (!call || llvm::is_contained(unanswered, call)) continue;
      call->replaceAllUsesWith(indices.at(call->getFunction()));
      call->eraseFromParent();
    }
  }

  llvm::Module& module_;
  llvm::Function& kernel_;
  const KernelInfo& info_;
  const EntryForm form_;
  llvm::IRBuilder<> builder_;
  llvm::Function* entry_ = nullptr;
  Value* state_ = nullptr;
  Triple grid_, groups_, nominal_, group_, actual_, position_ = {};
  Value* index_ = nullptr;
  llvm::SmallVector<Value*, 16> prepared_;
  llvm::CallInst* call_ = nullptr;
};

}  // namespace

Entry lower_arguments(llvm::Module& module, const KernelInfo& info, EntryForm form) {
  llvm::Function* kernel = module.getFunction(info.symbol);
  if (!kernel || kernel->arg_size() != info.arguments.size()) {
    throw Error(ErrorCode::internal, fmt::format("kernel '{}' and its reflection disagree", info.name));
  }
  return EntryBuilder(module, *kernel, info, form).entry();
}

}  // namespace metalloid::engines::cpu
