// log x = e log 2 + log m with m in [sqrt(1/2), sqrt(2)].
#include <limits>

#include "engines/simd/math/functions.h"
#include "engines/simd/math/polynomials.h"
#include "engines/simd/math/powers.h"

namespace metalloid::engines::simd {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Terms {
  Floats exponent;  // e
  Floats first;     // m - 1
  Floats rest;      // log m - (m - 1)
};

Terms logarithm_terms(Floats x) {
  const auto [mantissa, exponent] = split_exponent(x);
  const Floats f = mantissa - 1.0;
  return {to_float(exponent), f, f * f * multiply_add(f, polynomial(f, polynomials::logarithm), -0.5)};
}

// Infinity and NaN stay; below zero there is nothing.
Floats with_specials(Floats x, Floats result) {
  const Floats at_zero = select(x == 0.0, -infinity, x.constant(std::numeric_limits<double>::quiet_NaN()));
  return select(x > 0.0, select(x < infinity, result, x), at_zero);
}

}  // namespace

Split split_exponent(Floats a) {
  const Mask denormal = a < 0x1p-126;
  const Integers all = bits(select(denormal, a * 0x1p23, a));
  const Integers above = all - 0x3f3504f3;  // sqrt(1/2)
  const Integers exponent = (above >> 23) - select(denormal, all.constant(23), all.constant(0));
  return {from_bits(all - (above & ~std::int64_t{0x7fffff})), exponent};
}

Floats log(Floats x) {
  const auto [e, first, rest] = logarithm_terms(x);
  return with_specials(x, multiply_add(e, 0x1.62ep-1, first + multiply_add(e, 0x1.0bfbe8p-15, rest)));
}

Floats log2(Floats x) {
  const auto [e, first, rest] = logarithm_terms(x);
  constexpr double scale = 0x1.715476p+0, scale_rest = 0x1.4ae0cp-26;
  return with_specials(x, multiply_add(first, scale, multiply_add(first, scale_rest, rest * scale)) + e);
}

Floats log10(Floats x) {
  const auto [e, first, rest] = logarithm_terms(x);
  constexpr double scale = 0x1.bcb7b2p-2, log10_2 = 0x1.344p-2, log10_2_rest = 0x1.3509f8p-18;
  const Floats low = multiply_add(e, log10_2_rest, rest * scale);
  return with_specials(x, multiply_add(e, log10_2, multiply_add(first, scale, low)));
}

}  // namespace metalloid::engines::simd
