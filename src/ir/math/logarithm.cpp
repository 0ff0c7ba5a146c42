// log x = e log 2 + log m with m in [sqrt(1/2), sqrt(2)].
#include <limits>

#include "ir/math/functions.h"
#include "ir/math/polynomials.h"
#include "ir/math/powers.h"

namespace metalloid::ir::math {
namespace {

// Infinity and NaN stay; below zero there is nothing.
Floats with_specials(Floats x, Floats result) {
  const Floats at_zero = select(x == 0.0, -infinity, x.constant(std::numeric_limits<double>::quiet_NaN()));
  return select(x > 0.0, select(x < infinity, result, x), at_zero);
}

}  // namespace

Split split_exponent(Floats a) {
  const Mask denormal = a < 0x1p-126;
  const Floats normal = select(denormal, a * 0x1p23, a);
  // As if a denormal had an exponent like others.
  const Integers all = select(denormal, bits(normal) - (23 << 23), bits(normal));
  const Integers above = all - 0x3f3504f3;  // sqrt(1/2)
  return {from_bits(all - (above & ~std::int64_t{0x7fffff})), above >> 23};
}

Floats log(Floats x) {
  const auto [mantissa, exponent] = split_exponent(x);
  const Floats e = to_float(exponent), f = mantissa - 1.0;
  const Floats rest = multiply_add(f, polynomial(f, polynomials::logarithm), -0.5);
  const Floats of_mantissa = multiply_add(f * f, rest, f);
  return with_specials(x, multiply_add(e, 0x1.62ep-1, multiply_add(e, 0x1.0bfbe8p-15, of_mantissa)));
}

Floats log2(Floats x) {
  const auto [mantissa, exponent] = split_exponent(x);
  const Floats f = mantissa - 1.0;
  const Floats of_mantissa = multiply_add(f * f, polynomial(f, polynomials::logarithm_2), f * 0x1.715476p+0);
  return with_specials(x, to_float(exponent) + of_mantissa);
}

Floats log10(Floats x) {
  const auto [mantissa, exponent] = split_exponent(x);
  const Floats e = to_float(exponent), f = mantissa - 1.0;
  const Floats of_mantissa = multiply_add(f * f, polynomial(f, polynomials::logarithm_10), f * 0x1.bcb7b2p-2);
  return with_specials(x, multiply_add(e, 0x1.344p-2, multiply_add(e, 0x1.3509f8p-18, of_mantissa)));
}

}  // namespace metalloid::ir::math
