// What LLVM has for vectors only where the processor has an instruction for it.
#include <limits>

#include "ir/math/functions.h"

namespace metalloid::ir::math {
namespace {

// Above this a float has no fraction.
constexpr double no_fraction = 0x1p23;

// The last digit is set if anything was lost, so that rounding the sum to a narrower type sees on which side of a tie
// it lies.
Floats sum_rounded_to_odd(Floats a, Floats b) {
  const Floats sum = a + b;
  const Floats part = sum - a;
  const Floats lost = (a - (sum - part)) + (b - part);
  const Integers sum_bits = bits(sum);
  // Towards the lost part's side, one step, where the last digit is not set already.
  const Mask away = (bits(lost) ^ sum_bits) > -1;
  const Integers odd = sum_bits + select(away, sum_bits.constant(1), sum_bits.constant(-1));
  const Mask inexact = (lost != 0.0) & (absolute(sum) < std::numeric_limits<double>::infinity());
  return from_bits(select(inexact & ((sum_bits & 1) == 0), odd, sum_bits));
}

}  // namespace

// The product is exact in double, for every k that matters.
Floats ldexp(Floats x, Integers k) {
  const Integers above = select(k > 400, 400, k);
  const Integers bounded = extend(select(above < -400, -400, above) + 1023);
  return to_float(to_double(x) * from_bits(bounded << 52));
}

// Products are exact in the wider type.
Floats fma(Floats x, Floats y, Floats z) {
  return to_float(sum_rounded_to_odd(to_double(x) * to_double(y), to_double(z)));
}

Floats fma_of_halves(Floats x, Floats y, Floats z) { return sum_rounded_to_odd(x * y, z); }

Floats trunc(Floats x) { return select(absolute(x) < no_fraction, copy_sign(to_float(to_int32(x)), x), x); }

Floats floor(Floats x) {
  const Floats whole = trunc(x);
  return select(whole > x, copy_sign(whole - 1.0, x), whole);
}

Floats ceil(Floats x) {
  const Floats whole = trunc(x);
  return select(whole < x, copy_sign(whole + 1.0, x), whole);
}

Floats round(Floats x) { return trunc(x + copy_sign(x.constant(0x1.fffffep-2), x)); }

}  // namespace metalloid::ir::math
