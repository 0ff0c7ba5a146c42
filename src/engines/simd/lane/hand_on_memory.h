// What functions that stay calls read and write by the addresses of their callers' variables.
#pragma once

#include <llvm/IR/Function.h>

#include <vector>

namespace metalloid::engines::simd {

// Of functions, callers before callees. Elements at constant places of a variable are handed on and given back:
//
//   call void @add(ptr %sum, float %x)     ->  %0 = load float, ptr %sum
//                                              %1 = call { float } @add(float %0, float %x)
//                                              store float (extractvalue %1, 0), ptr %sum
//
// where the callee surely comes to each of them, or all calls hand it variables of which they are, and nothing else
// leads it to these places.
void hand_on_memory(const std::vector<llvm::Function*>& functions);

}  // namespace metalloid::engines::simd
