#include "ir/support/check_frames.h"

#include <fmt/format.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <string>

#include "metalloid/error.h"

namespace metalloid::ir {
namespace {

// Where the variable is used first: code has lines, variables have none.
std::string place_of(const llvm::AllocaInst& variable) {
  const llvm::DILocation* first = nullptr;
  for (const llvm::User* user : variable.users()) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
    const llvm::DILocation* location = instruction ? instruction->getDebugLoc().get() : nullptr;
    if (location && location->getLine() != 0 && (!first || location->getLine() < first->getLine())) first = location;
  }
  if (first) return fmt::format("{}:{}: ", first->getFilename().str(), first->getLine());
  const llvm::DISubprogram* function = variable.getFunction()->getSubprogram();
  return function ? fmt::format("{}:{}: ", function->getFilename().str(), function->getLine()) : std::string();
}

}  // namespace

void check_frames(const llvm::Module& module, std::string_view kernel, std::uint64_t most_bytes) {
  for (const llvm::Function& function : module) {
    std::uint64_t bytes = 0, largest_bytes = 0;
    const llvm::AllocaInst* largest = nullptr;
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
      if (!variable) continue;
      const auto size = variable->getAllocationSize(module.getDataLayout());
      const std::uint64_t own = size ? size->getFixedValue() : 0;
      bytes += own;
      if (largest && own <= largest_bytes) continue;
      largest = variable;
      largest_bytes = own;
    }
    if (bytes <= most_bytes) continue;
    if (!function.hasLocalLinkage()) {
      throw Error(ErrorCode::limit_exceeded,
                  fmt::format("{}kernel '{}' has too many variables: {} bytes, and at most {} are available",
                              place_of(*largest), kernel, bytes, most_bytes));
    }
    const std::string declaration = llvm::demangle(function.getName().str());
    throw Error(
        ErrorCode::limit_exceeded,
        fmt::format("{}function '{}', which kernel '{}' calls, has too many variables: {} bytes, and at most {} "
                    "are available to one that is not inlined",
                    place_of(*largest), declaration.substr(0, declaration.find('(')), kernel, bytes, most_bytes));
  }
}

}  // namespace metalloid::ir
