// Powers of two, for functions that are built from them.
#pragma once

#include <limits>

#include "ir/math/expressions.h"

namespace metalloid::ir::math {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

Floats normal_power_of_2(Integers n);     // -126 <= n <= 127
Floats scale(Floats a, Integers n);       // a 2^n for -252 <= n <= 254, rounded once more where it is denormal
Floats power_of_2(Floats r, Integers n);  // 2^(n + r), |r| <= 1/2
// m in [sqrt(1/2), sqrt(2)] and e with a = m 2^e, for positive finite a.
struct Split {
  Floats mantissa;
  Integers exponent;
};
Split split_exponent(Floats a);

}  // namespace metalloid::ir::math
