// The arithmetic of simdgroup matrices.
#pragma once

#include <cstdint>

#include "engines/reference/kernel_abi.h"

namespace metalloid::engines::reference {

// Carries out a program on the registers of a simdgroup. Lanes that are not active count as holding zeros.
void run_matrices(const MatrixProgram& program, std::uint32_t active, std::uint64_t* registers);

}  // namespace metalloid::engines::reference
