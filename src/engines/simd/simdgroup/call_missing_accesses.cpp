#include "engines/simd/simdgroup/call_missing_accesses.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <map>
#include <optional>
#include <tuple>

namespace metalloid::engines::simd {
namespace {

namespace intrinsic = llvm::Intrinsic;
using llvm::Value;

// Lanes that take part are handed on as the bits of a number.
constexpr unsigned most_lane_bits = 256;

struct MaskedAccess {
  llvm::IntrinsicInst* call;
  intrinsic::ID id;
  Value *data, *address, *lanes;  // the data of a load is what lanes get that take no part
  llvm::Align alignment;

  bool is_load() const { return id == intrinsic::masked_load || id == intrinsic::masked_gather; }
  llvm::FixedVectorType* type() const { return llvm::cast<llvm::FixedVectorType>(data->getType()); }
  unsigned elements() const { return type()->getNumElements(); }
  llvm::Constant* known_lanes() const { return llvm::dyn_cast<llvm::Constant>(lanes); }
  bool has_data() const { return !is_load() || !llvm::isa<llvm::UndefValue>(data); }
};

std::optional<MaskedAccess> masked_access_of(llvm::Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call) return std::nullopt;
  unsigned data = 0, address = 0, lanes = 0;
  switch (call->getIntrinsicID()) {
    case intrinsic::masked_load:
    case intrinsic::masked_gather: address = 0, lanes = 1, data = 2; break;
    case intrinsic::masked_store:
    case intrinsic::masked_scatter: data = 0, address = 1, lanes = 2; break;
    default: return std::nullopt;
  }
  return MaskedAccess{call,
                      call->getIntrinsicID(),
                      call->getArgOperand(data),
                      call->getArgOperand(address),
                      call->getArgOperand(lanes),
                      call->getParamAlign(address).valueOrOne()};
}

// Whether LLVM's code generator takes it apart.
bool is_missing(const MaskedAccess& access, const llvm::TargetTransformInfo& target) {
  llvm::FixedVectorType* type = access.type();
  const unsigned space = access.address->getType()->getScalarType()->getPointerAddressSpace();
  switch (access.id) {
    case intrinsic::masked_load: return !target.isLegalMaskedLoad(type, access.alignment, space);
    case intrinsic::masked_store: return !target.isLegalMaskedStore(type, access.alignment, space);
    case intrinsic::masked_gather:
      return !target.isLegalMaskedGather(type, access.alignment) ||
             target.forceScalarizeMaskedGather(type, access.alignment);
    default:
      return !target.isLegalMaskedScatter(type, access.alignment) ||
             target.forceScalarizeMaskedScatter(type, access.alignment);
  }
}

// An access of all lanes, or of `lanes`.
Value* access_memory(llvm::IRBuilder<>& builder, const MaskedAccess& like, Value* address, Value* data, Value* lanes) {
  llvm::FixedVectorType* type = like.type();
  if (!lanes && like.id == intrinsic::masked_load) return builder.CreateAlignedLoad(type, address, like.alignment);
  if (!lanes && like.id == intrinsic::masked_store) return builder.CreateAlignedStore(data, address, like.alignment);
  if (!lanes) lanes = llvm::Constant::getAllOnesValue(like.lanes->getType());
  switch (like.id) {
    case intrinsic::masked_load: return builder.CreateMaskedLoad(type, address, like.alignment, lanes, data);
    case intrinsic::masked_store: return builder.CreateMaskedStore(data, address, like.alignment, lanes);
    case intrinsic::masked_gather: return builder.CreateMaskedGather(type, address, like.alignment, lanes, data);
    default: return builder.CreateMaskedScatter(data, address, like.alignment, lanes);
  }
}

const char* name_of_masked(intrinsic::ID id) {
  switch (id) {
    case intrinsic::masked_load: return "metalloid.masked_load";
    case intrinsic::masked_store: return "metalloid.masked_store";
    case intrinsic::masked_gather: return "metalloid.gather";
    default: return "metalloid.scatter";
  }
}

// A row of some lanes takes its own bits of the number that all of them are.
Value* bits_of_lanes(Value* lanes, llvm::IRBuilder<>& builder) {
  const unsigned count = llvm::cast<llvm::FixedVectorType>(lanes->getType())->getNumElements();
  auto* part = llvm::dyn_cast<llvm::ShuffleVectorInst>(lanes);
  int first = 0;
  if (!part || !part->isExtractSubvectorMask(first)) return builder.CreateBitCast(lanes, builder.getIntNTy(count));
  Value* all = bits_of_lanes(part->getOperand(0), builder);
  return builder.CreateTrunc(builder.CreateLShr(all, static_cast<unsigned>(first)), builder.getIntNTy(count));
}

llvm::SmallVector<Value*, 3> operands_of_masked(const MaskedAccess& access, llvm::IRBuilder<>& builder) {
  llvm::SmallVector<Value*, 3> operands = {access.address};
  if (access.has_data()) operands.push_back(access.data);
  if (!access.known_lanes()) {
    operands.push_back(bits_of_lanes(access.lanes, builder));
  }
  return operands;
}

llvm::Function& function_for_masked(const MaskedAccess& access, llvm::ArrayRef<Value*> operands) {
  const llvm::Function& caller = *access.call->getFunction();
  llvm::Module& module = *access.call->getModule();
  llvm::LLVMContext& context = module.getContext();
  llvm::SmallVector<llvm::Type*, 3> types;
  for (const Value* operand : operands) types.push_back(operand->getType());
  auto* signature = llvm::FunctionType::get(access.call->getType(), types, false);
  auto* made = llvm::Function::Create(signature, llvm::GlobalValue::InternalLinkage, name_of_masked(access.id), module);
  if (module.getTargetTriple().isX86()) made->setCallingConv(llvm::CallingConv::X86_RegCall);
  for (const auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn}) {
    made->addFnAttr(attribute);
  }
  for (const char* attribute : {"target-cpu", "target-features"}) {
    if (caller.hasFnAttribute(attribute)) made->addFnAttr(caller.getFnAttribute(attribute));
  }
  Value* address = made->getArg(0);
  Value* data = access.has_data() ? made->getArg(1) : access.data;
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", made));
  const auto finish = [&](Value* lanes) {
    Value* result = access_memory(builder, access, address, data, lanes);
    builder.CreateRet(access.is_load() ? result : nullptr);
  };
  if (llvm::Constant* known = access.known_lanes()) {
    finish(known->isAllOnesValue() ? nullptr : known);
    return *made;
  }
  Value* bits = made->getArg(made->arg_size() - 1);
  auto* all = llvm::BasicBlock::Create(context, "all", made);
  auto* some = llvm::BasicBlock::Create(context, "some", made);
  builder.CreateCondBr(builder.CreateICmpEQ(bits, llvm::Constant::getAllOnesValue(bits->getType())), all, some);
  builder.SetInsertPoint(all);
  finish(nullptr);
  builder.SetInsertPoint(some);
  finish(builder.CreateBitCast(bits, access.lanes->getType()));
  return *made;
}

}  // namespace

void call_missing_accesses(llvm::Module& module, const llvm::TargetMachine& machine, unsigned most) {
  llvm::SmallVector<MaskedAccess, 32> found;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const llvm::TargetTransformInfo target = machine.getTargetTransformInfo(function);
    const std::size_t before = found.size();
    unsigned elements = 0;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto access = masked_access_of(instruction);
      if (!access || !is_missing(*access, target)) continue;
      if (access->elements() > most_lane_bits && !access->known_lanes()) continue;
      elements += access->elements();
      found.push_back(*access);
    }
    if (elements <= most) found.truncate(before);
  }
  using Kind = std::tuple<intrinsic::ID, llvm::Type*, llvm::Type*, llvm::Align, llvm::Constant*, bool>;
  const auto kind_of = [](const MaskedAccess& access) {
    return Kind(access.id, access.type(), access.address->getType(), access.alignment, access.known_lanes(),
                access.has_data());
  };
  struct Made {
    unsigned uses = 0;
    llvm::Function* function = nullptr;
  };
  std::map<Kind, Made> kinds;
  for (const MaskedAccess& access : found) ++kinds[kind_of(access)].uses;
  for (const MaskedAccess& before : found) {
    const MaskedAccess access = *masked_access_of(*before.call);  // what it is given may be a call by now
    Made& made = kinds[kind_of(access)];
    if (made.uses == 1) continue;
    llvm::IRBuilder<> builder(access.call);
    const auto operands = operands_of_masked(access, builder);
    if (!made.function) made.function = &function_for_masked(access, operands);
    llvm::CallInst* call = builder.CreateCall(made.function, operands);
    call->setCallingConv(made.function->getCallingConv());
    access.call->replaceAllUsesWith(call);
    access.call->eraseFromParent();
  }
}

}  // namespace metalloid::engines::simd
