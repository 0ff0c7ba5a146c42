#include "engines/simd/widening/report_lanes.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IRBuilder.h>

#include <string>

#include "engines/cpu_shared/passes/report_bounds.h"

namespace metalloid::engines::simd {

llvm::Function& first_lane_reporter(llvm::Module& module, llvm::ArrayRef<llvm::Value*> operands) {
  llvm::SmallVector<llvm::Type*, 10> types;
  std::string name = "report.first.lane.";
  for (const llvm::Value* operand : operands) {
    llvm::Type* type = types.emplace_back(operand->getType());
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    name += vector ? llvm::utostr(vector->getNumElements()) + "." : "s.";
  }
  if (llvm::Function* known = module.getFunction(name)) return *known;
  llvm::LLVMContext& context = module.getContext();
  auto* function = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false),
                                          llvm::GlobalValue::InternalLinkage, name, module);
  for (const auto attribute :
       {llvm::Attribute::NoInline, llvm::Attribute::NoUnwind, llvm::Attribute::NoReturn, llvm::Attribute::Cold}) {
    function->addFnAttr(attribute);
  }
  function->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", function));
  llvm::Value* lane = builder.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, function->getArg(2), builder.getTrue());
  llvm::SmallVector<llvm::Value*, 7> check;
  for (llvm::Argument& operand : llvm::drop_begin(function->args(), 3)) {
    const bool is_vector = operand.getType()->isVectorTy();
    check.push_back(is_vector ? builder.CreateExtractElement(&operand, lane) : static_cast<llvm::Value*>(&operand));
  }
  cpu::report_bounds(builder, function->getArg(0), builder.CreateAdd(function->getArg(1), lane), check);
  return *function;
}

}  // namespace metalloid::engines::simd
