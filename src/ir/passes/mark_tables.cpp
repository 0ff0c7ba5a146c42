#include "ir/passes/mark_tables.h"

#include <llvm/ADT/APInt.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Operator.h>

#include <cstdint>
#include <optional>

namespace metalloid::ir {
namespace {

using llvm::Value;

constexpr std::uint64_t most_elements = std::uint64_t{1} << 20;

// The largest of a constant's numbers; nothing if not all that it is made of are numbers of this type.
std::optional<llvm::APInt> largest(const llvm::Constant& constant, const llvm::IntegerType& element,
                                   std::uint64_t& left) {
  if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(&constant)) {
    if (number->getType() != &element || left-- == 0) return std::nullopt;
    return number->getValue();
  }
  llvm::Type* type = constant.getType();
  if (!type->isArrayTy() || type->getArrayNumElements() > left) return std::nullopt;
  if (llvm::isa<llvm::ConstantAggregateZero>(constant)) {
    while (type->isArrayTy()) type = type->getArrayElementType();
    return type == &element ? std::optional(llvm::APInt(element.getBitWidth(), 0)) : std::nullopt;
  }
  llvm::APInt result(element.getBitWidth(), 0);
  for (unsigned i = 0; i < type->getArrayNumElements(); ++i) {
    const auto next = largest(*constant.getAggregateElement(i), element, left);
    if (!next) return std::nullopt;
    if (next->ugt(result)) result = *next;
  }
  return result;
}

// The table whose elements an address leads to, none of them half.
const llvm::GlobalVariable* table_behind(const Value& address, std::uint64_t element_bytes,
                                         const llvm::DataLayout& layout) {
  const Value* at = &address;
  while (const auto* step = llvm::dyn_cast<llvm::GEPOperator>(at)) {
    llvm::SmallMapVector<Value*, llvm::APInt, 4> varying;
    llvm::APInt fixed(64, 0);
    if (!step->collectOffset(layout, 64, varying, fixed) || fixed.urem(element_bytes) != 0) return nullptr;
    for (const auto& [index, scale] : varying) {
      if (scale.urem(element_bytes) != 0) return nullptr;
    }
    at = step->getPointerOperand();
  }
  const auto* table = llvm::dyn_cast<llvm::GlobalVariable>(at);
  return table && table->isConstant() && table->hasDefinitiveInitializer() ? table : nullptr;
}

}  // namespace

void mark_tables(llvm::Module& module) {
  const llvm::DataLayout& layout = module.getDataLayout();
  llvm::DenseMap<std::pair<const llvm::GlobalVariable*, llvm::Type*>, llvm::MDNode*> ranges;
  llvm::MDBuilder metadata(module.getContext());
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      auto* element = load && load->isSimple() ? llvm::dyn_cast<llvm::IntegerType>(load->getType()) : nullptr;
      if (!element || element->getBitWidth() % 8 != 0) continue;
      const auto* table = table_behind(*load->getPointerOperand(), element->getBitWidth() / 8, layout);
      if (!table) continue;
      const auto [known, is_new] = ranges.try_emplace({table, element}, nullptr);
      if (is_new) {
        std::uint64_t left = most_elements;
        const auto most = largest(*table->getInitializer(), *element, left);
        if (most && most->countl_zero() > 0) {
          known->second = metadata.createRange(llvm::APInt(element->getBitWidth(), 0), *most + 1);
        }
      }
      if (known->second) load->setMetadata(llvm::LLVMContext::MD_range, known->second);
    }
  }
}

}  // namespace metalloid::ir
