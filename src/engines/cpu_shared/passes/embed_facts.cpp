#include "engines/cpu_shared/passes/embed_facts.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>

#include <cstdint>

namespace metalloid::engines::cpu {

void embed_words(llvm::Module& module, std::string_view name, const void* facts, std::size_t bytes) {
  const auto* first = static_cast<const std::uint32_t*>(facts);
  llvm::Constant* values = llvm::ConstantDataArray::get(
      module.getContext(), llvm::ArrayRef<std::uint32_t>(first, bytes / sizeof(std::uint32_t)));
  new llvm::GlobalVariable(module, values->getType(), true, llvm::GlobalValue::ExternalLinkage, values,
                           llvm::StringRef(name));
}

}  // namespace metalloid::engines::cpu
