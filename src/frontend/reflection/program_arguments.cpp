#include "frontend/reflection/program_arguments.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace metalloid::frontend {
namespace {

// As Clang passes it: scalars and pointers as they are, vectors `byval`.
bool is_passed_directly(const ArgumentInfo& info) {
  return info.kind != ArgumentKind::tensor && (info.kind != ArgumentKind::builtin || info.type.rows == 1);
}

}  // namespace

llvm::Function& append_program_arguments(llvm::Function& function, KernelInfo& kernel,
                                         const std::vector<ProgramArgument>& arguments) {
  if (arguments.empty()) return function;
  llvm::LLVMContext& context = function.getContext();
  std::vector<llvm::Type*> types(function.getFunctionType()->params());
  llvm::AttributeList attributes = function.getAttributes();
  for (const ProgramArgument& argument : arguments) {
    llvm::Type* type = argument.variable->getValueType();
    if (!is_passed_directly(argument.info)) {
      attributes = attributes.addParamAttribute(context, static_cast<unsigned>(types.size()),
                                                llvm::Attribute::getWithByValType(context, type));
      type = llvm::PointerType::get(context, 0);
    }
    types.push_back(type);
  }
  auto* wider = llvm::Function::Create(llvm::FunctionType::get(function.getReturnType(), types, false),
                                       function.getLinkage(), function.getAddressSpace(), "", function.getParent());
  wider->copyAttributesFrom(&function);
  wider->setAttributes(attributes);
  wider->setComdat(function.getComdat());
  wider->setSubprogram(function.getSubprogram());
  function.setSubprogram(nullptr);
  wider->takeName(&function);
  wider->splice(wider->begin(), &function);
  for (llvm::Argument& old : function.args()) {
    llvm::Argument* parameter = wider->getArg(old.getArgNo());
    parameter->takeName(&old);
    old.replaceAllUsesWith(parameter);
  }
  llvm::IRBuilder<> builder(&*wider->getEntryBlock().getFirstInsertionPt());
  unsigned next = static_cast<unsigned>(function.arg_size());
  for (const ProgramArgument& argument : arguments) {
    llvm::Value* value = wider->getArg(next++);
    llvm::Type* type = argument.variable->getValueType();
    if (!is_passed_directly(argument.info)) value = builder.CreateLoad(type, value);
    builder.CreateStore(value, argument.variable);
    kernel.arguments.push_back(argument.info);
  }
  function.replaceAllUsesWith(wider);
  function.eraseFromParent();
  return *wider;
}

}  // namespace metalloid::frontend
