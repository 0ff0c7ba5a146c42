// Functions whose variables do not fit onto a thread's stack.
#pragma once

#include <cstdint>
#include <string_view>

#include <llvm/IR/Module.h>

namespace metalloid::ir {

// Throws limit_exceeded with the line of the first function whose variables take more bytes.
void check_frames(const llvm::Module& module, std::string_view kernel, std::uint64_t most_bytes);

}  // namespace metalloid::ir
