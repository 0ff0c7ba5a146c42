#include "ir/passes/select_kernel.h"

#include <fmt/format.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

#include <memory>
#include <utility>
#include <vector>

#include "ir/passes/initialisers.h"
#include "ir/support/diagnostics.h"
#include "ir/support/pass_managers.h"
#include "metalloid/error.h"

namespace metalloid::ir {
namespace {

[[noreturn]] void fail(std::string_view kernel, llvm::Error error) {
  throw Error(ErrorCode::internal,
              fmt::format("cannot read the code of kernel '{}': {}", kernel, llvm::toString(std::move(error))));
}

// Materialises the functions that a set of roots reaches.
class Reach {
 public:
  explicit Reach(std::string_view kernel) : kernel_(kernel) {}

  void add(llvm::Constant* constant) {
    if (!seen_.insert(constant).second) return;
    if (auto* function = llvm::dyn_cast<llvm::Function>(constant)) {
      functions_.push_back(function);
    } else if (auto* alias = llvm::dyn_cast<llvm::GlobalAlias>(constant)) {
      add(alias->getAliasee());
    } else if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(constant)) {
      if (variable->hasInitializer()) add(variable->getInitializer());
    } else {
      for (llvm::Value* operand : constant->operands()) {
        if (auto* inner = llvm::dyn_cast<llvm::Constant>(operand)) add(inner);
      }
    }
  }

  void run() {
    while (!functions_.empty()) {
      llvm::Function* function = functions_.pop_back_val();
      if (llvm::Error error = function->materialize()) fail(kernel_, std::move(error));
      for (llvm::Instruction& instruction : llvm::instructions(*function)) {
        for (llvm::Value* operand : instruction.operands()) {
          if (auto* constant = llvm::dyn_cast<llvm::Constant>(operand)) add(constant);
        }
      }
    }
  }

  bool contains(llvm::Constant* constant) const { return seen_.contains(constant); }

 private:
  std::string_view kernel_;
  llvm::SmallPtrSet<llvm::Constant*, 32> seen_;
  llvm::SmallVector<llvm::Function*, 16> functions_;
};

// Of the constants that are computed, those that the kernel needs.
void keep_initialisers(llvm::Module& module, Reach& reach) {
  std::vector<Initialiser> open = find_initialisers(module), kept;
  for (bool found = true; found;) {
    found = false;
    for (auto entry = open.begin(); entry != open.end();) {
      if (!reach.contains(entry->constant)) {
        ++entry;
        continue;
      }
      reach.add(entry->function);
      kept.push_back(*entry);
      entry = open.erase(entry);
      found = true;
    }
    reach.run();
  }
  set_initialisers(module, kept);
}

}  // namespace

KernelModule select_kernel(std::string_view bitcode, const KernelInfo& kernel) {
  KernelModule result;
  result.context = std::make_unique<llvm::LLVMContext>();
  keep_diagnostics(*result.context);
  result.info = kernel;
  llvm::MemoryBufferRef buffer(llvm::StringRef(bitcode), kernel.name);
  auto module = llvm::getLazyBitcodeModule(buffer, *result.context);
  if (!module) fail(kernel.name, module.takeError());
  result.module = std::move(*module);

  llvm::Function* entry = result.module->getFunction(kernel.symbol);
  if (!entry) {
    throw Error(ErrorCode::internal,
                fmt::format("kernel '{}' has no function '{}' in its library", kernel.name, kernel.symbol));
  }
  Reach reach(kernel.name);
  reach.add(entry);
  llvm::SmallPtrSet<llvm::GlobalValue*, 8> gates;
  for (const ArgumentInfo& argument : kernel.arguments) {
    llvm::GlobalVariable* gate = argument.gate.empty() ? nullptr : result.module->getNamedGlobal(argument.gate);
    if (!gate) continue;
    gates.insert(gate);
    reach.add(gate);
  }
  reach.run();
  keep_initialisers(*result.module, reach);
  // What keeps otherwise unused definitions alive in a whole library.
  for (llvm::StringRef name : {"llvm.used", "llvm.compiler.used"}) {
    if (llvm::GlobalVariable* list = result.module->getNamedGlobal(name)) list->eraseFromParent();
  }
  for (llvm::Function& function : *result.module) {
    if (!reach.contains(&function) && !function.isDeclaration()) {
      function.deleteBody();
      function.setComdat(nullptr);
    }
  }
  if (llvm::Error error = result.module->materializeAll()) fail(kernel.name, std::move(error));

  for (llvm::GlobalValue& value : result.module->global_values()) {
    if (value.isDeclaration() || value.getName().starts_with("llvm.")) continue;
    if (auto* object = llvm::dyn_cast<llvm::GlobalObject>(&value)) object->setComdat(nullptr);
    value.setVisibility(llvm::GlobalValue::DefaultVisibility);
    value.setDSOLocal(false);
    // Gates are read after all functions are folded, and perhaps by none of them.
    value.setLinkage(&value == entry || gates.contains(&value) ? llvm::GlobalValue::ExternalLinkage
                                                               : llvm::GlobalValue::InternalLinkage);
  }
  PassManagers managers;
  llvm::GlobalDCEPass().run(*result.module, managers.modules);
  return result;
}

}  // namespace metalloid::ir
