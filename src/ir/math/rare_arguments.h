// Arguments that are so rare that the usual code need not be right for them: it is followed by a branch to other code.
#pragma once

#include <cstdint>

#include "ir/math/functions.h"

namespace metalloid::ir::math::rare {

// Angles of this size and above, infinite ones too.
inline constexpr double large_angle = 0x1p17;
Mask is_large_angle(Floats x);
ReducedAngle reduce_large_angle(Floats x);

// Quotients of fmod of this size and above, and those that are no numbers.
inline constexpr double large_quotient = 0x1p22;
Mask is_large_quotient(Floats quotient);
Floats large_remainder(Floats x, Floats y);

// Powers are ordinary of zero and of positive normal numbers, with finite exponents of at least 2^-100.
inline constexpr std::uint32_t smallest_normal = 0x00800000, infinity_bits = 0x7f800000, smallest_exponent = 0x0d800000;
Mask is_ordinary_power(Floats x, Floats y);
Floats unusual_power(Floats x, Floats y);

}  // namespace metalloid::ir::math::rare
