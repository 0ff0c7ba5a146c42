#include "engines/simd/math/lower_vector_math.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/TargetParser/Triple.h>

#include <string>

#include "ir/math/lower_math.h"

namespace metalloid::engines::simd {
namespace {

// Gives the vectors, operands and then results, to a function of rare_lanes.h in memory.
llvm::SmallVector<llvm::Value*, 2> call_library(llvm::IRBuilder<>& builder, const std::string& name,
                                                llvm::ArrayRef<llvm::Value*> operands,
                                                llvm::ArrayRef<llvm::Value*> usual) {
  llvm::SmallVector<llvm::Value*, 5> addresses;
  for (llvm::Value* value : llvm::concat<llvm::Value* const>(operands, usual)) {
    addresses.push_back(builder.CreateAlloca(value->getType()));
    builder.CreateStore(value, addresses.back());
  }
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(operands[0]->getType())->getNumElements();
  llvm::SmallVector<llvm::Type*, 5> types(addresses.size(), builder.getPtrTy());
  types.push_back(builder.getInt32Ty());
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), types, false);
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  const llvm::FunctionCallee callee = module.getOrInsertFunction("metalloid_" + name, type);
  llvm::SmallVector<llvm::Value*, 5> arguments(addresses);
  arguments.push_back(builder.getInt32(lanes));
  llvm::CallInst* call = builder.CreateCall(callee, arguments);
  call->setDoesNotThrow();
  call->setOnlyAccessesArgMemory();
  call->addFnAttr(llvm::Attribute::WillReturn);
  llvm::SmallVector<llvm::Value*, 2> results;
  for (std::size_t i = 0; i < usual.size(); ++i) {
    results.push_back(builder.CreateLoad(usual[i]->getType(), addresses[operands.size() + i]));
  }
  return results;
}

}  // namespace

ir::math::MathHardware math_hardware(const llvm::TargetMachine& machine) {
  if (!machine.getTargetTriple().isX86())
    return {.fused_multiply_add = true, .scaling = false, .rounding = true, .half = true};
  const llvm::MCSubtargetInfo& processor = *machine.getMCSubtargetInfo();
  return {.fused_multiply_add = processor.checkFeatures("+fma"),
          .scaling = processor.checkFeatures("+avx512f"),
          .rounding = processor.checkFeatures("+sse4.1"),
          .half = processor.checkFeatures("+avx512fp16")};
}

void lower_vector_math(llvm::Module& module, llvm::TargetMachine& machine) {
  ir::math::lower_math(module, math_hardware(machine), ir::math::MathForms::vectors, call_library);
}

}  // namespace metalloid::engines::simd
