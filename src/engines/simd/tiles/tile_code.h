// Which operations on tiles the engine takes whole, and which code carries them out.
#pragma once

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string_view>

namespace metalloid::engines::simd {

// `call` is of the operation, or of what defines it in the library.
bool has_tile_code(std::string_view whole, const llvm::CallBase& call);

//   declare void @metalloid_multiply_tiles(...)   ->   declare void @metalloid_multiply_tiles.avx2(...)
void choose_tile_code(llvm::Module& module, const llvm::TargetMachine& machine);

}  // namespace metalloid::engines::simd
