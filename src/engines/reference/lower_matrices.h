// Gathers matrix products that a simdgroup can compute in one meeting.
#pragma once

#include <cstdint>

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace metalloid::engines::reference {

bool uses_matrices(const llvm::Module& module);

// Unrolls loops over tiles, so that accumulators move from arrays to registers and products come to stand together.
void unroll_tiles(llvm::Module& module, llvm::TargetMachine& machine);

//   %d = call <2 x float> @metalloid.simdgroup_matrix.multiply_accumulate.f16.f32(%a, %b, %c)
//   %e = call <2 x float> @metalloid.simdgroup_matrix.multiply_accumulate.f16.f32(%a, %b2, %d)
// becomes
//   store %a, %b, %b2, %c as pairs of floats to registers 0, 1, 3, 2
//   call void @metalloid_matrices(null, null, @program, %registers)       program: 2 += 0 * 1, 2 += 0 * 3
//   %e = load register 2
//
// A meeting stops and resumes 32 lanes, which costs far more than a product; kernels unroll their loops over tiles,
// so a block often holds many products. Products of one block join until something but a product or a mere
// rearrangement of elements uses a result, another meeting comes, or registers run out. lower_meetings fills in the
// state and the site. Returns how many registers the kernel needs.
std::uint32_t lower_matrices(llvm::Module& module, llvm::Function& entry);

}  // namespace metalloid::engines::reference
