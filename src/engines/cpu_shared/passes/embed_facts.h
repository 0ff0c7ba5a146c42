// What the runtime must know of a kernel's code, as data beside it.
#pragma once

#include <string_view>

#include <llvm/IR/Module.h>

namespace metalloid::engines::cpu {

// `facts` is a struct of std::uint32_t.
void embed_words(llvm::Module& module, std::string_view name, const void* facts, std::size_t bytes);
template <typename Facts>
void embed_facts(llvm::Module& module, std::string_view name, const Facts& facts) {
  static_assert(sizeof(Facts) % 4 == 0 && alignof(Facts) == 4);
  embed_words(module, name, &facts, sizeof(Facts));
}

}  // namespace metalloid::engines::cpu
