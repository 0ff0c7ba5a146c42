// Operations with masks (ir/masked_operations.h) for the runner, which checks that the lanes of the mask come.
#pragma once

#include <llvm/IR/Module.h>

#include <string_view>

namespace metalloid::engines::reference {

// i32 (i32 mask): the lanes of the mask wait for each other here; what comes next they do together.
inline constexpr std::string_view agree_name = "metalloid.agree";

//   %s = metalloid.masked.simd.sum.f32(%mask, %x)    ->    metalloid.agree(%mask)
//                                                          %s = metalloid.simd.sum.f32(%x)
//
// Whether threadgroup barriers have masks: either all do or none.
bool expand_masks(llvm::Module& module);

}  // namespace metalloid::engines::reference
