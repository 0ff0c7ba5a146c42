#include "ir/bounds/accesses.h"

#include <fmt/format.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace metalloid::ir {

llvm::SmallVector<Access, 2> accesses_of(llvm::Instruction& instruction, const llvm::DataLayout& layout) {
  const auto bytes_of = [&](llvm::Type* type) {
    return llvm::ConstantInt::get(llvm::Type::getInt64Ty(instruction.getContext()),
                                  layout.getTypeStoreSize(type).getFixedValue());
  };
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    return {{load, load->getPointerOperand(), bytes_of(load->getType()), AccessKind::read}};
  }
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    return {{store, store->getPointerOperand(), bytes_of(store->getValueOperand()->getType()), AccessKind::write}};
  }
  if (auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    return {{change, change->getPointerOperand(), bytes_of(change->getType()), AccessKind::change}};
  }
  if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    llvm::Type* type = exchange->getNewValOperand()->getType();
    return {{exchange, exchange->getPointerOperand(), bytes_of(type), AccessKind::change}};
  }
  if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction)) {
    return {{copy, copy->getRawSource(), copy->getLength(), AccessKind::read},
            {copy, copy->getRawDest(), copy->getLength(), AccessKind::write}};
  }
  if (auto* fill = llvm::dyn_cast<llvm::MemSetInst>(&instruction)) {
    return {{fill, fill->getRawDest(), fill->getLength(), AccessKind::write}};
  }
  return {};
}

std::string line_of(const llvm::Instruction& instruction) {
  const llvm::DILocation* location = instruction.getDebugLoc().get();
  if (!location) return {};
  return fmt::format("{}:{}", location->getFilename().str(), location->getLine());
}

std::string name_of_variable(const llvm::Value& variable) {
  std::string name = llvm::demangle(variable.getName());
  if (const std::size_t scope = name.rfind("::"); scope != std::string::npos) name = name.substr(scope + 2);
  const std::string first = name.substr(0, name.find('.'));
  const bool is_made = name.find(".tmp") != std::string::npos || first == "tmp" || first == "coerce";
  return is_made ? std::string() : first;
}

}  // namespace metalloid::ir
