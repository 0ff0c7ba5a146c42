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

using ir::Triple;
using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

constexpr std::array<intrinsic::ID, 3> thread_registers = {
    intrinsic::nvvm_read_ptx_sreg_tid_x, intrinsic::nvvm_read_ptx_sreg_tid_y, intrinsic::nvvm_read_ptx_sreg_tid_z};
constexpr std::array<intrinsic::ID, 3> size_registers = {
    intrinsic::nvvm_read_ptx_sreg_ntid_x, intrinsic::nvvm_read_ptx_sreg_ntid_y, intrinsic::nvvm_read_ptx_sreg_ntid_z};
constexpr std::array<intrinsic::ID, 3> group_registers = {intrinsic::nvvm_read_ptx_sreg_ctaid_x,
                                                          intrinsic::nvvm_read_ptx_sreg_ctaid_y,
                                                          intrinsic::nvvm_read_ptx_sreg_ctaid_z};

Value* mark_invariant(llvm::LoadInst* load) {
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(load->getContext(), {}));
  return load;
}

Value* load_parameter(llvm::IRBuilderBase& builder, const Entry& entry, std::size_t offset, llvm::Type* type) {
  Value* address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), entry.function->getArg(0), offset);
  return mark_invariant(builder.CreateAlignedLoad(type, address, llvm::Align(type->isIntegerTy(32) ? 4 : 8)));
}

bool has_slot_bytes(const ArgumentInfo& argument) {
  return argument.kind == ArgumentKind::tensor ||
         (argument.kind == ArgumentKind::buffer && argument.address_space == AddressSpace::constant);
}

// How many bytes of an argument there is room for among the parameters. Where a pointer leads to nobody knows.
std::size_t room_for(const ArgumentInfo& argument) {
  constexpr std::size_t of_pointer = 128, most = 1024;
  if (!has_slot_bytes(argument) || !argument.is_active) return 0;
  std::size_t bytes = of_pointer;
  if (argument.kind == ArgumentKind::tensor) {
    bytes = sizeof(std::int64_t) * (1 + 2 * std::max<std::size_t>(argument.extents.size(), 1));
  } else if (argument.is_reference) {
    bytes = argument.type.size;
  }
  return bytes > most ? 0 : llvm::alignTo(bytes, inline_alignment);
}

class EntryBuilder {
 public:
  EntryBuilder(llvm::Module& module, llvm::Function& kernel, const KernelInfo& info, ArgumentAlignment alignment,
               Placement placement)
      : module_(module),
        kernel_(kernel),
        info_(info),
        alignment_(alignment),
        placement_(placement),
        builder_(module.getContext()) {}

  Entry build() {
    make_function();
    builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", entry_.function));
    placement_ == Placement::in_grid ? place_thread_in_grid() : place_thread();
    call_kernel();
    inline_kernel();
    answer_thread_queries();
    return entry_;
  }

 private:
  llvm::Type* word() { return builder_.getInt32Ty(); }

  void make_function() {
    std::size_t bytes =
        llvm::alignTo(sizeof(LaunchHead) + info_.arguments.size() * sizeof(ArgumentSlot), inline_alignment);
    for (const ArgumentInfo& argument : info_.arguments) bytes += room_for(argument);
    entry_.parameter_bytes = static_cast<std::uint32_t>(std::min(llvm::alignTo(bytes, 8), most_parameter_bytes));
    llvm::Type* parameters = llvm::ArrayType::get(builder_.getInt8Ty(), entry_.parameter_bytes);
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {builder_.getPtrTy()}, /*isVarArg=*/false);
    entry_.function =
        llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, llvm::StringRef(kernel_name), module_);
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

  Triple from_head(std::size_t offset) {
    Triple result;
    for (unsigned d = 0; d < 3; ++d) result[d] = load_from_head(builder_, entry_, offset + 4 * d, word());
    return result;
  }
  Triple registers(const std::array<intrinsic::ID, 3>& names) {
    Triple result;
    for (unsigned d = 0; d < 3; ++d) result[d] = builder_.CreateIntrinsic(names[d], {});
    return result;
  }
  Value* add(Value* a, Value* b) { return builder_.CreateAdd(a, b, "", /*HasNUW=*/true); }
  Value* multiply(Value* a, Value* b) { return builder_.CreateMul(a, b, "", /*HasNUW=*/true); }

  // Where the thread lies. Of plain launches, that is what CUDA says; of others, only threadgroups at the grid's edge
  // and deep ones have to compute it.
  void place_thread() {
    place_.grid = from_head(offsetof(LaunchHead, threads_per_grid));
    place_.groups = from_head(offsetof(LaunchHead, threadgroups_per_grid));
    place_.nominal = from_head(offsetof(LaunchHead, threads_per_threadgroup));
    const Triple block = registers(group_registers), position = registers(thread_registers);
    const Triple size = registers(size_registers);
    place_.index = add(position[0], multiply(size[0], add(position[1], multiply(size[1], position[2]))));
    entry_.thread_index = place_.index;
    const Triple first = from_head(offsetof(LaunchHead, first_group));
    for (unsigned d = 0; d < 3; ++d) entry_.group[d] = add(first[d], block[d]);
    Value* is_plain = is_set(offsetof(LaunchHead, is_plain));

    llvm::LLVMContext& context = module_.getContext();
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    const auto new_block = [&](const char* name) { return llvm::BasicBlock::Create(context, name, entry_.function); };
    llvm::BasicBlock *cut = new_block("not_plain"), *edge = new_block("edge"), *inside = new_block("inside");
    llvm::BasicBlock *outside = new_block("outside"), *run = new_block("run");
    builder_.CreateCondBr(is_plain, run, cut);

    builder_.SetInsertPoint(cut);
    Value* is_other = is_set(offsetof(LaunchHead, is_folded));
    Triple actual;
    for (unsigned d = 0; d < 3; ++d) {
      Value* rest = builder_.CreateSub(place_.grid[d], multiply(entry_.group[d], place_.nominal[d]));
      actual[d] = builder_.CreateBinaryIntrinsic(intrinsic::umin, place_.nominal[d], rest);
      is_other = builder_.CreateOr(is_other, builder_.CreateICmpNE(actual[d], place_.nominal[d]));
    }
    builder_.CreateCondBr(is_other, edge, run);

    builder_.SetInsertPoint(edge);
    Value* threads = multiply(multiply(actual[0], actual[1]), actual[2]);
    builder_.CreateCondBr(builder_.CreateICmpULT(place_.index, threads), inside, outside);
    builder_.SetInsertPoint(outside);
    builder_.CreateRetVoid();
    builder_.SetInsertPoint(inside);
    Value* rows = builder_.CreateUDiv(place_.index, actual[0]);
    const Triple own = {builder_.CreateURem(place_.index, actual[0]), builder_.CreateURem(rows, actual[1]),
                        builder_.CreateUDiv(rows, actual[1])};
    builder_.CreateBr(run);

    builder_.SetInsertPoint(run);
    const auto merged = [&](Value* of_plain, Value* of_whole, Value* of_edge) {
      llvm::PHINode* result = builder_.CreatePHI(word(), 3);
      result->addIncoming(of_plain, before);
      result->addIncoming(of_whole, cut);
      result->addIncoming(of_edge, inside);
      return result;
    };
    for (unsigned d = 0; d < 3; ++d) place_.position[d] = merged(position[d], position[d], own[d]);
    for (unsigned d = 0; d < 3; ++d) place_.group[d] = merged(block[d], entry_.group[d], entry_.group[d]);
    for (unsigned d = 0; d < 3; ++d) place_.actual[d] = merged(place_.nominal[d], place_.nominal[d], actual[d]);
    entry_.threads = multiply(multiply(place_.actual[0], place_.actual[1]), place_.actual[2]);
  }

  Value* is_set(std::size_t offset) {
    return builder_.CreateICmpNE(load_from_head(builder_, entry_, offset, word()), builder_.getInt32(0));
  }

  // Where the thread lies, if blocks are no threadgroups: all of it comes of its place in the grid.
  void place_thread_in_grid() {
    place_.grid = from_head(offsetof(LaunchHead, threads_per_grid));
    place_.groups = from_head(offsetof(LaunchHead, threadgroups_per_grid));
    place_.nominal = from_head(offsetof(LaunchHead, threads_per_threadgroup));
    const Triple position = registers(thread_registers), size = registers(size_registers);
    const Triple block = registers(group_registers);
    auto* thread_x = llvm::cast<llvm::Function>(module_.getOrInsertFunction(thread_x_name, word()).getCallee());
    mark_pure(*thread_x);
    entry_.thread_x = builder_.CreateCall(thread_x);
    Triple in_grid = {entry_.thread_x};
    Value* is_inside = builder_.CreateICmpULT(entry_.thread_x, place_.grid[0]);
    for (unsigned d = 1; d < 3; ++d) {
      in_grid[d] = add(multiply(block[d], size[d]), position[d]);
      is_inside = builder_.CreateAnd(is_inside, builder_.CreateICmpULT(in_grid[d], place_.grid[d]));
    }
    place_.in_grid = in_grid;
    for (unsigned d = 0; d < 3; ++d) {
      place_.group[d] = entry_.group[d] = builder_.CreateUDiv(in_grid[d], place_.nominal[d]);
      Value* first = multiply(place_.group[d], place_.nominal[d]);
      place_.position[d] = builder_.CreateSub(in_grid[d], first, "", /*HasNUW=*/true);
      place_.actual[d] =
          builder_.CreateBinaryIntrinsic(intrinsic::umin, place_.nominal[d], builder_.CreateSub(place_.grid[d], first));
    }
    const Triple &own = place_.position, &actual = place_.actual;
    place_.index = add(own[0], multiply(actual[0], add(own[1], multiply(actual[1], own[2]))));
    entry_.thread_index = place_.index;
    entry_.threads = multiply(multiply(actual[0], actual[1]), actual[2]);
    llvm::BasicBlock* outside = llvm::BasicBlock::Create(module_.getContext(), "outside", entry_.function);
    llvm::BasicBlock* run = llvm::BasicBlock::Create(module_.getContext(), "run", entry_.function);
    builder_.CreateCondBr(is_inside, run, outside);
    builder_.SetInsertPoint(outside);
    builder_.CreateRetVoid();
    builder_.SetInsertPoint(run);
  }

  static void mark_pure(llvm::Function& function) {
    function.setMemoryEffects(llvm::MemoryEffects::none());
    for (const auto attribute : {llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn, llvm::Attribute::Speculatable,
                                 llvm::Attribute::NoCallback}) {
      function.addFnAttr(attribute);
    }
  }

  // Usual code may count on it: see Executable::takes.
  llvm::Align alignment_of_argument(const ArgumentInfo& argument) const {
    return llvm::Align(placement_ == Placement::in_grid ? joined_alignment_of(argument) : alignment_of(argument));
  }

  Value* argument_call(unsigned number, llvm::Type* type) {
    const auto* pointer = llvm::cast<llvm::PointerType>(type);
    llvm::FunctionCallee callee =
        module_.getOrInsertFunction(fmt::format("{}{}", argument_name, pointer->getAddressSpace()), type, word());
    mark_pure(*llvm::cast<llvm::Function>(callee.getCallee()));
    llvm::CallInst* call = builder_.CreateCall(callee, {builder_.getInt32(number)}, info_.arguments[number].name);
    if (alignment_ == ArgumentAlignment::of_their_types) {
      call->addRetAttr(
          llvm::Attribute::getWithAlignment(module_.getContext(), alignment_of_argument(info_.arguments[number])));
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
    Value* place = load_from_slot(builder_, entry_, parameter.getArgNo(), offsetof(ArgumentSlot, descriptor),
                                  builder_.getInt64Ty());
    Value* source = builder_.CreateInBoundsGEP(builder_.getInt8Ty(), entry_.function->getArg(0), place);
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
        const Triple position = registers(thread_registers), size = registers(size_registers);
        index = add(position[0], multiply(size[0], add(position[1], multiply(size[1], position[2]))));
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

Entry lower_arguments(llvm::Module& module, const KernelInfo& info, ArgumentAlignment alignment, Placement placement) {
  llvm::Function* kernel = module.getFunction(info.symbol);
  if (!kernel || kernel->arg_size() != info.arguments.size()) {
    throw Error(ErrorCode::internal, fmt::format("kernel '{}' and its reflection disagree", info.name));
  }
  return EntryBuilder(module, *kernel, info, alignment, placement).build();
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
    Value* number_there = load_from_slot(builder, entry, number, offsetof(ArgumentSlot, address), builder.getInt64Ty());
    Value* address = nullptr;
    if (argument.kind == ArgumentKind::threadgroup_memory) {
      address = builder.CreateInBoundsGEP(builder.getInt8Ty(), threadgroup_memory(module), number_there);
    } else if (argument.kind == ArgumentKind::buffer && argument.address_space == AddressSpace::constant) {
      Value* own = builder.CreateInBoundsGEP(builder.getInt8Ty(), entry.function->getArg(0), number_there);
      Value* is_own = builder.CreateICmpULT(number_there, builder.getInt64(most_parameter_bytes));
      address = builder.CreateSelect(is_own, own, builder.CreateIntToPtr(number_there, builder.getPtrTy()));
      address = builder.CreateAddrSpaceCast(address, call->getType());
    } else {
      address = load_from_slot(builder, entry, number, offsetof(ArgumentSlot, address), call->getType());
    }
    call->replaceAllUsesWith(address);
    call->eraseFromParent();
  }
}

}  // namespace metalloid::engines::cuda
