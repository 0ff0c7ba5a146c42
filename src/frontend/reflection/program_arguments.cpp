#include "frontend/reflection/program_arguments.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "ir/support/change_signature.h"

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
  std::vector<llvm::Type*> types;
  for (const ProgramArgument& argument : arguments) {
    llvm::Type* type = argument.variable->getValueType();
    types.push_back(is_passed_directly(argument.info) ? type : llvm::PointerType::get(function.getContext(), 0));
  }
  llvm::Function& wider = ir::widen(function, types);
  llvm::IRBuilder<> builder(&*wider.getEntryBlock().getFirstInsertionPt());
  unsigned next = static_cast<unsigned>(function.arg_size());
  for (const ProgramArgument& argument : arguments) {
    llvm::Argument* parameter = wider.getArg(next++);
    llvm::Value* value = parameter;
    if (!is_passed_directly(argument.info)) {
      llvm::Type* type = argument.variable->getValueType();
      parameter->addAttr(llvm::Attribute::getWithByValType(function.getContext(), type));
      value = builder.CreateLoad(type, parameter);
    }
    builder.CreateStore(value, argument.variable);
    kernel.arguments.push_back(argument.info);
  }
  function.replaceAllUsesWith(&wider);
  function.eraseFromParent();
  return wider;
}

}  // namespace metalloid::frontend
