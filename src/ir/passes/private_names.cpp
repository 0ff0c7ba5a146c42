#include "ir/passes/private_names.h"

#include <llvm/ADT/StringRef.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/TargetParser/Triple.h>

#include <map>

namespace metalloid::ir {
namespace {

constexpr llvm::StringLiteral prefix = "metal.";

// Functions of the C library that LLVM knows and may call, the compiler's own (__truncsfhf2), the engines' and C's.
bool belongs_to_hosts(llvm::StringRef name) {
  static const llvm::TargetLibraryInfoImpl library{llvm::Triple("x86_64-unknown-linux-gnu")};
  llvm::LibFunc function;
  return name.starts_with("__") || name.starts_with("metalloid") || library.getLibFunc(name, function);
}

}  // namespace

LibraryInfo make_names_private(KernelModule& kernel, const LibraryInfo& library) {
  std::map<std::string, std::string> renamed;
  const auto rename = [&](llvm::GlobalValue& value) {
    const std::string name = value.getName().str();
    if (!belongs_to_hosts(name)) return;
    value.setName(prefix + name);
    renamed[name] = value.getName().str();
  };
  for (llvm::GlobalObject& object : kernel.module->global_objects()) {
    if (!object.isDeclaration()) rename(object);
  }
  for (const FunctionConstantInfo& constant : library.function_constants) {  // declared only, until they have values
    if (llvm::GlobalVariable* variable = kernel.module->getNamedGlobal(constant.symbol)) rename(*variable);
  }
  const auto follow = [&](std::string& symbol) {
    if (const auto found = renamed.find(symbol); found != renamed.end()) symbol = found->second;
  };
  LibraryInfo result = library;
  for (FunctionConstantInfo& constant : result.function_constants) follow(constant.symbol);
  follow(kernel.info.symbol);
  for (ArgumentInfo& argument : kernel.info.arguments) follow(argument.gate);
  return result;
}

std::string source_name(const llvm::GlobalValue& value) {
  llvm::StringRef name = value.getName();
  name.consume_front(prefix);
  return llvm::demangle(name);
}

}  // namespace metalloid::ir
