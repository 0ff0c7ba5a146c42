// Angles are reduced to an eighth of a turn around a multiple of a quarter turn, by subtracting the multiple in parts
// (Cody and Waite). Large ones are left to rare_arguments.h.

#include <cstdint>

#include "ir/math/functions.h"
#include "ir/math/polynomials.h"
#include "ir/math/rare_arguments.h"
#include "ir/math/rare_part.h"

namespace metalloid::ir::math {
namespace {

// For |x| < rare::large_angle; any result elsewhere. The quarter's upper bits hold what adding `whole` leaves there.
ReducedAngle reduce_small_angle(Floats x) {
  if (x.emitter().hardware.fused_multiply_add) {
    constexpr double whole = 0x1.8p23;
    const Floats shifted = multiply_add(x, 0x1.45f306p-1, whole);
    const Floats quarter = shifted - whole;
    // The first difference is exact: it is a multiple of the part's last digit and below 1. So three parts are enough
    // for the float that is nearest to a multiple. All have the same sign, so that -0 stays.
    Floats rest = multiply_add(quarter, -0x1.921fb4p+0, x);
    rest = multiply_add(quarter, -0x1.4442dp-24, rest);
    return {multiply_add(quarter, -0x1.846988p-48, rest), bits(shifted)};
  }
  // The first part has 33 digits: products with it are exact in double.
  constexpr double whole = 0x1.8p52;
  const Floats wide = to_double(x);
  const Floats shifted = wide * 0x1.45f306dc9c883p-1 + whole;
  const Floats quarter = shifted - whole;
  const Floats rest = wide - quarter * 0x1.921fb544p+0 - quarter * 0x1.0b4611a626331p-34;
  return {to_float(rest), truncate(bits(shifted))};
}

Floats sine_near_zero(Floats r, Floats square) {
  return r * multiply_add(square, polynomial(square, polynomials::sine), 1.0);
}

Floats cosine_near_zero(Floats square) {
  return multiply_add(square * square, polynomial(square, polynomials::cosine), multiply_add(square, -0.5, 1.0));
}

// Sine of a quarter turn or two more: cosine, other signs.
Floats sine_of(Floats r, Integers quarter) {
  const Floats square = r * r;
  const Floats value = select((quarter & 1) != 0, cosine_near_zero(square), sine_near_zero(r, square));
  return from_bits(bits(value) ^ ((quarter & 2) << 30));
}

}  // namespace

ReducedAngle reduce_angle(Floats x, llvm::Function* reduce_large_angles) {
  const ReducedAngle small = reduce_small_angle(x);
  if (!reduce_large_angles) return small;
  const Mask large = rare::is_large_angle(x);
  const auto merged =
      with_rare_part({small.rest.value(), small.quarter.value()}, large, *reduce_large_angles, {x.value()});
  return {Floats(x.emitter(), merged[0]), Integers(x.emitter(), merged[1])};
}

Floats sin(const ReducedAngle& x) { return sine_of(x.rest, x.quarter); }

Floats cos(const ReducedAngle& x) { return sine_of(x.rest, x.quarter + 1); }

Floats tan(const ReducedAngle& x) {
  const Floats square = x.rest * x.rest;
  const Floats sine = sine_near_zero(x.rest, square), cosine = cosine_near_zero(square);
  const Mask odd = (x.quarter & 1) != 0;
  return select(odd, -cosine, sine) / select(odd, sine, cosine);
}

}  // namespace metalloid::ir::math
