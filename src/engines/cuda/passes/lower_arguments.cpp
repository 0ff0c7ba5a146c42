#include "engines/cuda/passes/lower_arguments.h"

#include <fmt/format.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/IR/CallingConv.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "engines/cuda/kernel_abi.h"
#include "ir/operations.h"
#include "ir/support/builtin_values.h"
#include "metalloid/error.h"
#include "support/address_spaces.h"

namespace metalloid::engines::cuda {
namespace {

using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

Value* mark_invariant(llvm::LoadInst* load) {
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(load->getContext(), {}));
  return load;
}

Value* load_parameter(llvm::IRBuilderBase& builder, const Entry& entry, std::size_t offset, llvm::Type* type) {
  Value* address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), entry.parameters, offset);
  return mark_invariant(builder.CreateAlignedLoad(type, address, llvm::Align(type->isIntegerTy(32) ? 4 : 8)));
}

bool has_slot_bytes(const ArgumentInfo& argument) {
  return argument.kind == ArgumentKind::tensor ||
         (argument.kind == ArgumentKind::buffer && argument.address_space == AddressSpace::constant);
}

// How many bytes of an argument there is room for among the parameters. Where a pointer leads to nobody knows.
std::size_t room_for(const ArgumentInfo& argument) {
  constexpr std::size_t of_pointer = 128;
  if (argument.is_reference) return room_for_reference(argument);
  if (!has_slot_bytes(argument) || !argument.is_active) return 0;
  if (argument.kind != ArgumentKind::tensor) return of_pointer;
  const std::size_t bytes = sizeof(std::int64_t) * (1 + 2 * std::max<std::size_t>(argument.extents.size(), 1));
  return llvm::alignTo(bytes, inline_alignment);
}

class EntryBuilder {
 public:
  EntryBuilder(llvm::Module& module, llvm::Function& kernel, const KernelInfo& info, ArgumentAlignment alignment,
               Placement placement, LaneOrder lanes, GroupOrder groups)
      : module_(module),
        kernel_(kernel),
        info_(info),
        alignment_(alignment),
        placement_(placement),
        builder_(module.getContext()) {
    entry_.lane_order = lanes;
    entry_.group_order = groups;
  }

  Entry build() {
    make_function();
    builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", entry_.function));
    place_ = place_thread(builder_, entry_, placement_);
    call_kernel();
    inline_kernel();
    answer_thread_queries();
    align_threadgroup_variables();
    return entry_;
  }

 private:
  llvm::Type* word() { return builder_.getInt32Ty(); }

  void make_function() {
    std::size_t bytes = place_of_inline_bytes(info_.arguments.size());
    for (const ArgumentInfo& argument : info_.arguments) bytes += room_for(argument);
    entry_.parameter_bytes = static_cast<std::uint32_t>(std::min(llvm::alignTo(bytes, 8), most_parameter_bytes));
    llvm::Type* parameters = llvm::ArrayType::get(builder_.getInt8Ty(), entry_.parameter_bytes);
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {builder_.getPtrTy()}, /*isVarArg=*/false);
    entry_.function =
        llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, llvm::StringRef(kernel_name), module_);
    entry_.parameters = entry_.function->getArg(0);
    entry_.function->setCallingConv(llvm::CallingConv::PTX_Kernel);
    entry_.function->addFnAttr(llvm::Attribute::NoUnwind);
    entry_.function->addFnAttr(llvm::Attribute::NullPointerIsValid);
    entry_.function->addParamAttr(0, llvm::Attribute::getWithByValType(module_.getContext(), parameters));
    entry_.function->addParamAttr(
        0, llvm::Attribute::getWithAlignment(module_.getContext(), llvm::Align(inline_alignment)));
    entry_.function->addParamAttr(0, llvm::Attribute::NonNull);
    entry_.function->addParamAttr(0, llvm::Attribute::ReadOnly);
    entry_.function->addParamAttr(0, llvm::Attribute::get(module_.getContext(), "nvvm.grid_constant"));
  }

  Value* argument_call(unsigned number, llvm::Type* type) {
    const auto* pointer = llvm::cast<llvm::PointerType>(type);
    llvm::FunctionCallee callee =
        module_.getOrInsertFunction(fmt::format("{}{}", argument_name, pointer->getAddressSpace()), type, word());
    mark_pure(*llvm::cast<llvm::Function>(callee.getCallee()));
    llvm::CallInst* call = builder_.CreateCall(callee, {builder_.getInt32(number)}, info_.arguments[number].name);
    if (alignment_ == ArgumentAlignment::of_their_types) {
      call->addRetAttr(
          llvm::Attribute::getWithAlignment(module_.getContext(), llvm::Align(alignment_of(info_.arguments[number]))));
    }
    return call;
  }

  // A copy of a tensor's descriptor: the address of its elements, which is the argument's, and what is behind it.
  Value* descriptor(llvm::Argument& parameter) {
    const ArgumentInfo& argument = info_.arguments[parameter.getArgNo()];
    llvm::AllocaInst* memory = builder_.CreateAlloca(parameter.getParamByValType(), nullptr, argument.name);
    memory->setAlignment(std::max(parameter.getParamAlign().valueOrOne(), llvm::Align(8)));
    const std::uint64_t bytes = module_.getDataLayout().getTypeAllocSize(parameter.getParamByValType());
    const auto space = static_cast<unsigned>(argument.address_space);
    builder_.CreateStore(argument_call(parameter.getArgNo(), builder_.getPtrTy(space)), memory);
    Value* place = load_from_slot(builder_, entry_, parameter.getArgNo(), offsetof(ArgumentSlot, descriptor), word());
    place = builder_.CreateZExt(place, builder_.getInt64Ty());
    Value* source = builder_.CreateInBoundsGEP(builder_.getInt8Ty(), entry_.parameters, place);
    for (std::uint64_t at = 8; at + 8 <= bytes; at += 8) {
      Value* value = mark_invariant(builder_.CreateAlignedLoad(
          builder_.getInt64Ty(), builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), source, at),
          llvm::Align(8)));
      builder_.CreateStore(value, builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), memory, at));
    }
    return memory;
  }

  Value* argument(llvm::Argument& parameter) {
    const ArgumentInfo& argument = info_.arguments[parameter.getArgNo()];
    llvm::Type* type = parameter.getType();
    if (argument.kind == ArgumentKind::builtin) {
      llvm::AllocaInst* memory = nullptr;
      if (!type->isIntegerTy() || argument.type.rows > 1) {
        memory = builder_.CreateAlloca(parameter.hasByValAttr() ? parameter.getParamByValType() : type, nullptr,
                                       argument.name);
        memory->setAlignment(std::max(parameter.getParamAlign().valueOrOne(), llvm::Align(16)));
      }
      return ir::builtin_argument(builder_, place_, argument, type, memory);
    }
    if (!type->isPointerTy()) {
      throw Error(ErrorCode::unsupported, fmt::format("argument '{}' of kernel '{}' has a type that cannot be bound",
                                                      argument.name, info_.name));
    }
    return parameter.hasByValAttr() ? descriptor(parameter) : argument_call(parameter.getArgNo(), type);
  }

  void call_kernel() {
    llvm::SmallVector<Value*, 16> arguments;
    for (llvm::Argument& parameter : kernel_.args()) arguments.push_back(argument(parameter));
    call_ = builder_.CreateCall(&kernel_, arguments);
    call_->setAttributes(kernel_.getAttributes());
    builder_.CreateRetVoid();
  }

  // Without a location of its own the call leaves the kernel's locations as they are, scope included.
  void inline_kernel() {
    entry_.function->setSubprogram(kernel_.getSubprogram());
    kernel_.setSubprogram(nullptr);
    llvm::InlineFunctionInfo inlining;
    const llvm::InlineResult result = llvm::InlineFunction(*call_, inlining);
    if (!result.isSuccess()) {
      throw Error(ErrorCode::internal,
                  fmt::format("cannot inline kernel '{}': {}", info_.name, result.getFailureReason()));
    }
    kernel_.eraseFromParent();
  }

  // So that rows of matrices in them may be read at once.
  void align_threadgroup_variables() {
    for (llvm::GlobalVariable& variable : module_.globals()) {
      if (variable.getAddressSpace() != threadgroup_space || variable.isDeclaration()) continue;
      variable.setAlignment(std::max(variable.getAlign().valueOrOne(), llvm::Align(inline_alignment)));
    }
  }

  // In functions that stay calls, from the registers again.
  void answer_thread_queries() {
    llvm::Function* query = module_.getFunction(llvm::StringRef(ir::thread_index_name));
    if (!query) return;
    for (llvm::User* user : llvm::make_early_inc_range(query->users())) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      if (!call) continue;
      Value* index = entry_.thread_index;
      if (call->getFunction() != entry_.function) {
        builder_.SetInsertPoint(call);
        index = index_in_block(builder_, entry_.lane_order);
      }
      call->replaceAllUsesWith(index);
      call->eraseFromParent();
    }
  }

  llvm::Module& module_;
  llvm::Function& kernel_;
  const KernelInfo& info_;
  const ArgumentAlignment alignment_;
  const Placement placement_;
  llvm::IRBuilder<> builder_;
  Entry entry_;
  ir::ThreadPlace place_{};
  llvm::CallInst* call_ = nullptr;
};

// The array of the launch's threadgroup memory: static variables, then arguments.
Value* threadgroup_memory(llvm::Module& module) {
  llvm::Type* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 0);
  const llvm::StringRef name(threadgroup_memory_name);
  if (llvm::GlobalVariable* known = module.getNamedGlobal(name)) return known;
  auto* made = new llvm::GlobalVariable(module, type, /*isConstant=*/false, llvm::GlobalValue::ExternalLinkage, nullptr,
                                        name, nullptr, llvm::GlobalValue::NotThreadLocal, threadgroup_space);
  made->setAlignment(llvm::Align(128));
  return made;
}

}  // namespace

Value* load_from_head(llvm::IRBuilderBase& builder, const Entry& entry, std::size_t member, llvm::Type* type) {
  return load_parameter(builder, entry, member, type);
}

Value* load_from_slot(llvm::IRBuilderBase& builder, const Entry& entry, unsigned argument, std::size_t member,
                      llvm::Type* type) {
  return load_parameter(builder, entry, sizeof(LaunchHead) + argument * sizeof(ArgumentSlot) + member, type);
}

llvm::CallInst* as_argument(Value& value) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&value);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName().starts_with(llvm::StringRef(argument_name)) ? call : nullptr;
}

Entry lower_arguments(llvm::Module& module, const KernelInfo& info, ArgumentAlignment alignment, Placement placement,
                      LaneOrder lanes, GroupOrder groups) {
  llvm::Function* kernel = module.getFunction(info.symbol);
  if (!kernel || kernel->arg_size() != info.arguments.size()) {
    throw Error(ErrorCode::internal, fmt::format("kernel '{}' and its reflection disagree", info.name));
  }
  return EntryBuilder(module, *kernel, info, alignment, placement, lanes, groups).build();
}

ConstantPlace place_of_constant(llvm::IRBuilderBase& builder, const Entry& entry, const KernelInfo& info,
                                unsigned number) {
  Value* there = load_from_slot(builder, entry, number, offsetof(ArgumentSlot, address), builder.getInt64Ty());
  Value* is_own = builder.CreateICmpULT(there, builder.getInt64(most_parameter_bytes));
  const std::size_t room = room_for_reference(info.arguments[number]);
  std::optional<std::uint64_t> place;
  if (const std::uint64_t at = place_of_reference(info.arguments, number);
      room != 0 && at + room <= entry.parameter_bytes) {
    place = at;
  }
  Value* own =
      builder.CreateInBoundsGEP(builder.getInt8Ty(), entry.parameters, place ? builder.getInt64(*place) : there);
  Value* elsewhere = builder.CreateIntToPtr(there, builder.getPtrTy());
  return {builder.CreateSelect(is_own, own, elsewhere), is_own, elsewhere, place};
}

void place_arguments(llvm::Module& module, const Entry& entry, const KernelInfo& info) {
  llvm::SmallVector<llvm::CallInst*, 16> calls;
  for (llvm::Function& function : module) {
    if (!function.getName().starts_with(llvm::StringRef(argument_name))) continue;
    for (llvm::User* user : function.users()) calls.push_back(llvm::cast<llvm::CallInst>(user));
  }
  for (llvm::CallInst* call : calls) {
    const auto number = static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(call->getArgOperand(0))->getZExtValue());
    const ArgumentInfo& argument = info.arguments[number];
    llvm::IRBuilder<> builder(call);
    Value* address = nullptr;
    if (argument.kind == ArgumentKind::threadgroup_memory) {
      Value* number_there =
          load_from_slot(builder, entry, number, offsetof(ArgumentSlot, address), builder.getInt64Ty());
      // A multiple of it, which alone tells those who ask for alignment.
      Value* begin = builder.CreateAnd(number_there, builder.getInt64(~std::uint64_t{inline_alignment - 1}));
      address = builder.CreateInBoundsGEP(builder.getInt8Ty(), threadgroup_memory(module), begin);
    } else if (argument.kind == ArgumentKind::buffer && argument.address_space == AddressSpace::constant) {
      address = place_of_constant(builder, entry, info, number).address;
      address = builder.CreateAddrSpaceCast(address, call->getType());
    } else {
      address = load_from_slot(builder, entry, number, offsetof(ArgumentSlot, address), call->getType());
    }
    call->replaceAllUsesWith(address);
    call->eraseFromParent();
  }
}

}  // namespace metalloid::engines::cuda
