// e^x = 2^n e^r with n whole and |r| <= ln 2 / 2, and what follows from it. Limits of the argument are where the result
// is 0 or infinite anyway, so that n stays small.
#include <cmath>

#include "ir/math/functions.h"
#include "ir/math/polynomials.h"
#include "ir/math/powers.h"

namespace metalloid::ir::math {
namespace {

// Adding this to a small number leaves the nearest whole number in the last bits of the sum.
constexpr float whole = 0x1.8p23f;
constexpr std::int64_t whole_bits = 0x4b400000;

struct Reduced {
  Floats rest;
  Integers power;
};

// x = power * step + rest; `step` comes in two parts, of which products with `power` are exact with the first.
Reduced reduce(Floats x, double inverse_step, double step, double step_rest) {
  const Floats shifted = multiply_add(x, inverse_step, whole);
  const Floats power = shifted - whole;
  const Floats rest = multiply_add(power, -step_rest, multiply_add(power, -step, x));
  return {rest, bits(shifted) - whole_bits};
}

Reduced reduce_natural(Floats x) { return reduce(x, 0x1.715476p+0, 0x1.62ep-1, 0x1.0bfbe8p-15); }

// e^r - 1 of a reduced r.
Floats exponential_less_1(Floats r) { return multiply_add(r * r, polynomial(r, polynomials::exponential), r); }

}  // namespace

Floats normal_power_of_2(Integers n) { return from_bits((n + 127) << 23); }

Floats scale(Floats a, Integers n) {
  if (a.emitter().hardware.scaling) {
    llvm::Value* operands[] = {a.value(), n.value()};
    return {a.emitter(), a.builder().CreateIntrinsic(llvm::Intrinsic::ldexp, {a.type(), n.type()}, operands)};
  }
  const Integers half = n >> 1;
  return a * normal_power_of_2(half) * normal_power_of_2(n - half);
}

Floats power_of_2(Floats r, Integers n) {
  return scale(multiply_add(r, polynomial(r, polynomials::exponential_2), 1.0), n);
}

Floats exp(Floats x) {
  const auto [rest, power] = reduce_natural(at_least(at_most(x, 89), -104));
  return scale(exponential_less_1(rest) + 1.0, power);
}

Floats exp2(Floats x) {
  const Floats bounded = at_least(at_most(x, 129), -151);
  const Floats shifted = bounded + whole;
  return power_of_2(bounded - (shifted - whole), bits(shifted) - whole_bits);
}

Floats exp10(Floats x) {
  const auto [rest, power] = reduce(at_least(at_most(x, 39), -46), 0x1.a934fp+1, 0x1.344p-2, 0x1.3509f8p-18);
  return scale(multiply_add(rest, polynomial(rest, polynomials::exponential_10), 1.0), power);
}

// With E = e^|x| - 1: (E + E / (E + 1)) / 2. E / 4 cannot overflow where the result does not.
Floats sinh(Floats x) {
  const Floats magnitude = at_most(absolute(x), 89.5);
  const auto [rest, power] = reduce_natural(magnitude);
  const Floats unit = normal_power_of_2(power - 2);
  const Floats quarter = multiply_add(unit, exponential_less_1(rest), unit - 0.25);
  const Floats result = multiply_add(2.0, quarter, 0.5 * (quarter / (quarter + 0.25)));
  return copy_sign(select(magnitude < 0x1p-12, magnitude, result), x);
}

Floats cosh(Floats x) {
  const auto [rest, power] = reduce_natural(at_most(absolute(x), 89.5));
  const Floats unit = normal_power_of_2(power - 2);
  const Floats quarter = multiply_add(unit, exponential_less_1(rest), unit);
  return multiply_add(2.0, quarter, 0.125 / quarter);
}

// With E = e^2|x| - 1: E / (E + 2).
Floats tanh(Floats x) {
  const auto [rest, power] = reduce_natural(2.0 * at_most(absolute(x), 10));
  const Floats unit = normal_power_of_2(power);
  const Floats less_1 = multiply_add(unit, exponential_less_1(rest), unit - 1.0);
  return copy_sign(less_1 / (less_1 + 2.0), x);
}

}  // namespace metalloid::ir::math
