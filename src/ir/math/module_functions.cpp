#include "ir/math/module_functions.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Instructions.h>

#include "ir/math/rare_arguments.h"

namespace metalloid::ir::math {
namespace {

llvm::SmallVector<llvm::Value*, 2> rare_results(const Emitter& emitter, const std::string& name,
                                                llvm::ArrayRef<llvm::Value*> operands,
                                                llvm::ArrayRef<llvm::Value*> usual) {
  const Floats x(emitter, operands[0]), usual_result(emitter, usual[0]);
  if (name == "reduce_large_angles") {
    const Mask large = rare::is_large_angle(x);
    const ReducedAngle reduced = rare::reduce_large_angle(x);
    return {select(large, reduced.rest, usual_result).value(),
            select(large, reduced.quarter, Integers(emitter, usual[1])).value()};
  }
  const Floats y(emitter, operands[1]);
  if (name == "large_remainders") {
    const Mask large = rare::is_large_quotient(absolute(x) / absolute(y));
    return {select(large, rare::large_remainder(x, y), usual_result).value()};
  }
  return {select(rare::is_ordinary_power(x, y), usual_result, rare::unusual_power(x, y)).value()};
}

}  // namespace

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
  llvm::SmallVector<llvm::Value*, 5> all;
  for (llvm::Argument& parameter : function->args()) all.push_back(&parameter);
  const llvm::ArrayRef<llvm::Value*> values(all);
  const auto given = values.take_front(operands.size()), usual = values.drop_front(operands.size());
  const Emitter emitter{builder, hardware_};
  const auto made = rare_body_ ? rare_body_(builder, name, given, usual) : rare_results(emitter, name, given, usual);
  llvm::Value* whole = llvm::PoisonValue::get(result);
  for (std::size_t i = 0; i < made.size(); ++i) {
    whole = made.size() == 1 ? made[i] : builder.CreateInsertValue(whole, made[i], static_cast<unsigned>(i));
  }
  builder.CreateRet(whole);
  return *function;
}

}  // namespace metalloid::ir::math
