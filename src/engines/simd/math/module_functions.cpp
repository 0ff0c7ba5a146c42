#include "engines/simd/math/module_functions.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Instructions.h>

namespace metalloid::engines::simd {

llvm::Function& ModuleFunctions::make(const std::string& name, llvm::Type* result,
                                      llvm::ArrayRef<llvm::Type*> parameters, const llvm::Instruction& user) {
  auto* function = llvm::Function::Create(llvm::FunctionType::get(result, parameters, false),
                                          llvm::GlobalValue::InternalLinkage, "metalloid.math." + name, module_);
  function->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  for (const llvm::Attribute& attribute : user.getFunction()->getAttributes().getFnAttrs()) {
    if (attribute.isStringAttribute()) function->addFnAttr(attribute);
  }
  for (const auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn,
                               llvm::Attribute::NoSync, llvm::Attribute::NoFree, llvm::Attribute::MustProgress}) {
    function->addFnAttr(attribute);
  }
  function->setDoesNotAccessMemory();
  return *function;
}

llvm::Function& ModuleFunctions::get(const std::string& name, llvm::ArrayRef<llvm::Value*> operands,
                                     const llvm::Instruction& user, const Body& body) {
  llvm::Type* type = operands[0]->getType();
  llvm::Function*& known = functions_[{name, type}];
  if (known) return *known;
  llvm::SmallVector<llvm::Type*, 3> types;
  for (llvm::Value* operand : operands) types.push_back(operand->getType());
  llvm::Function* function = known = &make(name, type, types, user);
  // The end is there first, because bodies split blocks.
  auto* entry = llvm::BasicBlock::Create(module_.getContext(), "entry", function);
  auto* end = llvm::ReturnInst::Create(module_.getContext(), llvm::PoisonValue::get(type), entry);
  llvm::IRBuilder<> builder(end);
  llvm::SmallVector<llvm::Value*, 3> parameters;
  for (llvm::Argument& parameter : function->args()) parameters.push_back(&parameter);
  end->setOperand(0, body(Emitter{builder, hardware_}, parameters));
  return *function;
}

llvm::Function& ModuleFunctions::get_rare(const std::string& name, llvm::ArrayRef<llvm::Type*> operands,
                                          llvm::ArrayRef<llvm::Type*> results, const llvm::Instruction& user) {
  llvm::Function*& known = functions_[{name, operands[0]}];
  if (known) return *known;
  llvm::LLVMContext& context = module_.getContext();
  llvm::SmallVector<llvm::Type*, 4> parameters(operands);
  parameters.append(results.begin(), results.end());
  llvm::Type* result = results.size() == 1 ? results[0] : llvm::StructType::get(context, results);
  llvm::Function* function = known = &make(name, result, parameters, user);
  function->addFnAttr(llvm::Attribute::Cold);

  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", function));
  llvm::SmallVector<llvm::Value*, 5> addresses;
  for (llvm::Argument& parameter : function->args()) {
    addresses.push_back(builder.CreateAlloca(parameter.getType()));
    builder.CreateStore(&parameter, addresses.back());
  }
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(operands[0])->getNumElements();
  llvm::SmallVector<llvm::Type*, 5> types(addresses.size(), builder.getPtrTy());
  types.push_back(builder.getInt32Ty());
  auto* type = llvm::FunctionType::get(builder.getVoidTy(), types, false);
  const llvm::FunctionCallee callee = module_.getOrInsertFunction("metalloid_" + name, type);
  llvm::SmallVector<llvm::Value*, 5> arguments(addresses);
  arguments.push_back(builder.getInt32(lanes));
  llvm::CallInst* call = builder.CreateCall(callee, arguments);
  call->setDoesNotThrow();
  call->setOnlyAccessesArgMemory();
  call->addFnAttr(llvm::Attribute::WillReturn);
  llvm::Value* all = llvm::PoisonValue::get(result);
  for (std::size_t i = 0; i < results.size(); ++i) {
    llvm::Value* part = builder.CreateLoad(results[i], addresses[operands.size() + i]);
    all = results.size() == 1 ? part : builder.CreateInsertValue(all, part, static_cast<unsigned>(i));
  }
  builder.CreateRet(all);
  return *function;
}

}  // namespace metalloid::engines::simd
