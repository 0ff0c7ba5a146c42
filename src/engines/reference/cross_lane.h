// Arithmetic of the operations across a simdgroup's or quadgroup's lanes.
#pragma once

#include <cstdint>
#include <span>

#include "ir/operations.h"

namespace metalloid::engines::reference {

// Replaces the values of the active lanes by their results. Values are the lanes' bits, zero-extended. Inactive
// lanes take no part: reductions leave them out; a permute that reads one gives the reader its own value.
//
// Float sums and products are formed as a tree (lane i with lane i + 16, then + 8, ...), which every engine repeats.
void run_cross_lane(const ir::CrossLaneOperation& operation, std::uint32_t active, std::span<std::uint64_t, 32> values,
                    std::span<const std::uint64_t, 32> operands);

}  // namespace metalloid::engines::reference
