// Arithmetic of the operations on matrices that are spread over the lanes of a simdgroup.
#pragma once

#include <cstdint>
#include <span>

#include "ir/operations.h"

namespace metalloid::engines::reference {

// Replaces the values of the active lanes by their elements of the result. A lane's two elements are the bits of a
// word, the first in the lower ones (ir/operations.def has the layout); `values`, `b` and `c` are the operands, of
// which an operation may have fewer. Elements of inactive lanes count as zero.
void run_matrix_operation(const ir::MatrixOperation& operation, std::uint32_t active,
                          std::span<std::uint64_t, 32> values, std::span<const std::uint64_t, 32> b,
                          std::span<const std::uint64_t, 32> c);

}  // namespace metalloid::engines::reference
