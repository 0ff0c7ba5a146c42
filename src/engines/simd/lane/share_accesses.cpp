#include "engines/simd/lane/share_accesses.h"

#include <fmt/format.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdint>
#include <string>

#include "engines/simd/shapes/lane_target.h"
#include "engines/simd/shapes/parameter_shapes.h"
#include "engines/simd/vectors/parts.h"
#include "metalloid/reflection.h"

namespace metalloid::engines::simd {
namespace {

using Kind = Shape::Kind;

constexpr const char* shared_attribute = "metalloid.shared_access";

struct Access {
  llvm::Instruction* instruction;
  std::int64_t stride;
  unsigned size;  // instructions once it is widened
};

// What an access becomes: loads of pieces and their order, or a gather for each part.
unsigned size_of(llvm::Type* type, std::uint64_t own, bool is_load) {
  return is_load && own >= 16 && llvm::isPowerOf2_64(own) ? static_cast<unsigned>(own / 16) * 100 : 20 * parts_of(type);
}

llvm::SmallVector<Access, 32> accesses_of(const AnalysedFunction& function) {
  llvm::SmallVector<Access, 32> found;
  if (is_shared_access(function.function())) return found;  // of another arrangement of the lanes
  const llvm::DataLayout& layout = function.function().getDataLayout();
  for (llvm::Instruction& instruction : llvm::instructions(function.function())) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (!load && !store) continue;
    if (load ? !load->isSimple() : !store->isSimple()) continue;
    llvm::Type* type = llvm::getLoadStoreType(&instruction);
    if (type->isAggregateType() || type->isIntOrIntVectorTy(1)) continue;
    const Shape shape = function.shapes().of(*llvm::getLoadStorePointerOperand(&instruction));
    if (shape.kind != Kind::strided || shape.may_wrap) continue;
    const std::uint64_t own = parts_of(type) * layout.getTypeStoreSize(type->getScalarType()).getFixedValue();
    if (shape.stride == static_cast<std::int64_t>(own)) continue;
    found.push_back({&instruction, shape.stride, size_of(type, own, load)});
  }
  return found;
}

// The function for accesses like this one.
llvm::Function& shared(const Access& access) {
  llvm::Instruction& instruction = *access.instruction;
  llvm::Module& module = *instruction.getModule();
  llvm::Type* type = llvm::getLoadStoreType(&instruction);
  llvm::Type* pointer = llvm::getLoadStorePointerOperand(&instruction)->getType();
  const bool is_load = llvm::isa<llvm::LoadInst>(instruction);
  const llvm::Align alignment = llvm::getLoadStoreAlignment(&instruction);
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << *type;
  const std::string name = fmt::format("metalloid.{}.{}.in.{}.aligned.{}.strided.{}", is_load ? "load" : "store", text,
                                       pointer->getPointerAddressSpace(), alignment.value(), access.stride);
  if (llvm::Function* made = module.getFunction(name)) return *made;
  auto* signature = is_load
                        ? llvm::FunctionType::get(type, {pointer}, false)
                        : llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), {pointer, type}, false);
  auto* made = llvm::Function::Create(signature, llvm::GlobalValue::InternalLinkage, name, module);
  // Four vectors of 32 lanes come back in registers.
  if (module.getTargetTriple().isX86()) made->setCallingConv(llvm::CallingConv::X86_RegCall);
  set_step_width(*made, step_width(*instruction.getFunction()));
  made->addFnAttr(shared_attribute);
  made->addFnAttr(llvm::Attribute::NoInline);
  made->addFnAttr(llvm::Attribute::NoUnwind);
  made->addFnAttr(llvm::Attribute::WillReturn);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "entry", made));
  if (is_load) {
    builder.CreateRet(builder.CreateAlignedLoad(type, made->getArg(0), alignment));
  } else {
    builder.CreateAlignedStore(made->getArg(1), made->getArg(0), alignment);
    builder.CreateRetVoid();
  }
  return *made;
}

}  // namespace

bool is_shared_access(const llvm::Function& function) { return function.hasFnAttribute(shared_attribute); }

void share_accesses(llvm::Function& lane, unsigned most) {
  llvm::SmallVector<Access, 32> all;
  unsigned size = 0;
  for (const auto& function : analyse_program(lane)) {
    for (const Access& access : accesses_of(*function)) {
      all.push_back(access);
      size += access.size;
    }
  }
  if (size <= most) return;
  for (const Access& access : all) {
    llvm::IRBuilder<> builder(access.instruction);
    llvm::SmallVector<llvm::Value*, 2> operands = {llvm::getLoadStorePointerOperand(access.instruction)};
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(access.instruction)) operands.push_back(store->getValueOperand());
    llvm::Function& function = shared(access);
    llvm::CallInst* call = builder.CreateCall(&function, operands);
    call->setCallingConv(function.getCallingConv());
    access.instruction->replaceAllUsesWith(call);
    access.instruction->eraseFromParent();
  }
}

}  // namespace metalloid::engines::simd
