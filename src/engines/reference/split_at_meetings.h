// Turns a kernel whose threads meet into one that stops at each meeting and can be resumed there.
#pragma once

#include <cstdint>
#include <optional>

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace metalloid::engines::reference {

//   %r = call i64 @metalloid_cross_lane(%state, %site, %value, %operand, %addend)
// becomes
//   store %value, %site, %operand, %addend to the lane's place on its simdgroup's board (meeting_abi.h)
//   suspend: what is needed later goes to the lane's frame; return to the engine
//   resume:
//   %r = load the lane's value
//
// How: cpu_shared/passes/split_at_stops.h. A lane that ends leaves no site on the board.
//
// Runs behind all optimisation, which so far saw calls of unknown functions. Returns the bytes of a frame, aligned to
// frame_alignment; or nothing, with the module unchanged, if threads meet in functions that could not be inlined
// (recursive ones): these need a stack each.
std::optional<std::uint32_t> split_at_meetings(llvm::Module& module, llvm::Function& entry,
                                               llvm::TargetMachine& machine);

}  // namespace metalloid::engines::reference
