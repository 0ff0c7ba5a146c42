// x^y = 2^(y log2 |x|). The logarithm takes more digits than a float has, since y multiplies its error. With fused
// multiplication it is a sum of two floats, and unusual arguments are left to rare_arguments.h; without, it is a
// double, for which one division in float is enough.
#include <bit>
#include <cstdint>
#include <limits>

#include "ir/math/functions.h"
#include "ir/math/polynomials.h"
#include "ir/math/powers.h"
#include "ir/math/rare_arguments.h"
#include "ir/math/rare_part.h"

namespace metalloid::ir::math {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
// Powers of two beyond these are zero and infinity.
constexpr double far = 200;

// log2 m = log2((1 + s) / (1 - s)) with s = (m - 1) / (m + 1).
Floats wide_logarithm(Floats magnitude) {
  const auto [mantissa, exponent] = split_exponent(magnitude);
  const Floats inverse = to_double(1.0 / (mantissa + 1.0));
  const Floats m = to_double(mantissa);
  const Floats above = m - 1.0, below = m + 1.0;
  const Floats estimate = above * inverse;
  const Floats s = multiply_add(multiply_add(-estimate, below, above), inverse, estimate);
  const Floats square = s * s;
  const Floats factor =
      multiply_add(square, polynomial(square, polynomials::wide_power_logarithm), 0x1.71547652b82fep+1);
  return multiply_add(s, factor, to_double(to_float(exponent)));
}

// 2^(y log2 magnitude) for magnitudes that are not negative.
Floats positive_power(Floats magnitude, Floats y) {
  Floats logarithm = wide_logarithm(magnitude);
  logarithm = select(magnitude == 0.0, -infinity, logarithm);
  logarithm = select(magnitude < infinity, logarithm, to_double(magnitude));
  // Finite, so that 1 to the power of infinity is 1.
  const Floats finite = at_least(at_most(y, std::numeric_limits<float>::max()), -std::numeric_limits<float>::max());
  const Floats exponent = at_least(at_most(to_double(finite) * logarithm, far), -far);
  constexpr double whole = 0x1.8p52;
  const Floats shifted = exponent + whole;
  return power_of_2(to_float(exponent - (shifted - whole)), truncate(bits(shifted)));
}

Floats general_power(Floats x, Floats y) {
  const Floats magnitude = absolute(x);
  const Floats half = y * 0.5;
  const Mask y_is_whole = round_to_even(y) == y, y_is_even = round_to_even(half) == half;
  const Floats power = positive_power(magnitude, y);
  const Floats with_sign = select(has_sign(x) & y_is_whole & !y_is_even, -power, power);
  const Mask undefined = (x < 0.0) & (magnitude < infinity) & !y_is_whole;
  return select((y == 0.0) | (x == 1.0), 1.0, select(undefined, nan, with_sign));
}

// A number as the sum of two, the second below the last digit of the first.
struct Sum {
  Floats high, low;
};

// log2 of zero or of a positive normal number.
Sum logarithm_sum(Floats x) {
  const Integers all = bits(x), above = all - 0x3f3504f3;  // sqrt(1/2)
  const Floats exponent = to_float(above >> 23);
  const Floats m = from_bits(all - (above & ~std::int64_t{0x7fffff}));
  // s as above. Its divisor has 25 digits.
  const Floats numerator = m - 1.0, divisor = m + 1.0, divisor_low = m - (divisor - 1.0);
  const Floats inverse = 1.0 / divisor;
  const Floats s = numerator * inverse;
  const Floats s_low = multiply_add(-s, divisor_low, multiply_add(-s, divisor, numerator)) * inverse;
  const Floats square = s * s;
  constexpr double factor = 0x1.715476p+1, factor_low = 0x1.4ae0cp-25;  // 2 / ln 2
  const Floats first = s * factor;
  const Floats lost = multiply_add(s, factor, -first);
  const Floats tail = multiply_add(s * square, polynomial(square, polynomials::power_logarithm), s * factor_low);
  const Floats rest = multiply_add(s_low, factor, lost + tail);
  // The exponent is zero or not below the first term.
  const Floats sum = exponent + first;
  const Floats sum_rest = (exponent - sum) + first + rest;
  const Floats high = sum + sum_rest;
  // A finite number for that of zero: it is as good as infinity, and has no low part.
  return {select(x == 0.0, -0x1p120, high), sum_rest - (high - sum)};
}

// Zero and positive normal numbers to the power of finite ones that are not next to zero.
Floats ordinary_power(Floats x, Floats y) {
  const Sum logarithm = logarithm_sum(x);
  const Floats product = y * logarithm.high;
  const Floats product_low = multiply_add(y, logarithm.low, multiply_add(y, logarithm.high, -product));
  constexpr float whole = 0x1.8p23f;
  const Floats bounded = at_least(at_most(product, far), -far);
  const Floats shifted = bounded + whole;
  // Bounded where it means nothing, because the product overflows or nearly.
  Floats rest = bounded - (shifted - whole) + product_low;
  rest = select(rest < 1.0, rest, 1.0);
  rest = select(rest > -1.0, rest, -1.0);
  return power_of_2(rest, bits(shifted) - std::bit_cast<std::int32_t>(whole));
}

}  // namespace

Floats pow(Floats x, Floats y, llvm::Function* unusual_powers) {
  if (!unusual_powers) return general_power(x, y);
  const Mask ordinary = rare::is_ordinary_power(x, y);
  return with_rare_part(ordinary_power(x, y), !ordinary, *unusual_powers, {x.value(), y.value()});
}

namespace rare {

Mask is_ordinary_power(Floats x, Floats y) {
  const Mask normal = below_unsigned(bits(x) - smallest_normal, infinity_bits - smallest_normal);
  const Mask finite = below_unsigned((bits(y) & 0x7fffffff) - smallest_exponent, infinity_bits - smallest_exponent);
  return (normal | (bits(x) == 0)) & finite;
}

Floats unusual_power(Floats x, Floats y) { return general_power(x, y); }

}  // namespace rare

Floats powi(Floats x, Integers n) {
  const Floats y = to_float(n);
  const Floats power = positive_power(absolute(x), y);
  const Floats with_sign = select(has_sign(x) & ((n & 1) != 0), -power, power);
  return select((n == 0) | (x == 1.0), 1.0, with_sign);
}

}  // namespace metalloid::ir::math
