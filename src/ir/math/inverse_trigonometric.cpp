#include <numbers>

#include "ir/math/functions.h"
#include "ir/math/polynomials.h"

namespace metalloid::ir::math {
namespace {

constexpr double half_turn = std::numbers::pi, quarter_turn = half_turn / 2;

// asin a for a in [0, 1/2]; above that the angle whose cosine is a, halved, since asin(1 - 2 z) = pi / 2 - 2 asin sqrt
// z.
struct ArcSine {
  Floats angle;
  Mask from_top;
};

ArcSine arc_sine(Floats magnitude) {
  const Mask from_top = magnitude > 0.5;
  const Floats square = select(from_top, (1.0 - magnitude) * 0.5, magnitude * magnitude);
  const Floats argument = select(from_top, square_root(square), magnitude);
  const Floats angle = multiply_add(argument * square, polynomial(square, polynomials::arc_sine), argument);
  return {angle, from_top};
}

// atan a for a in [0, 1].
Floats arc_tangent(Floats a) {
  const Floats square = a * a;
  return multiply_add(a * square, polynomial(square, polynomials::arc_tangent), a);
}

}  // namespace

Floats asin(Floats x) {
  const auto [angle, from_top] = arc_sine(absolute(x));
  return copy_sign(select(from_top, multiply_add(-2.0, angle, angle.constant(quarter_turn)), angle), x);
}

Floats acos(Floats x) {
  const auto [angle, from_top] = arc_sine(absolute(x));
  const Floats twice = angle + angle;
  const Floats outer = select(has_sign(x), half_turn - twice, twice);
  return select(from_top, outer, quarter_turn - copy_sign(angle, x));
}

Floats atan(Floats x) {
  const Floats magnitude = absolute(x);
  const Mask above_1 = magnitude > 1.0;
  const Floats angle = arc_tangent(select(above_1, 1.0 / magnitude, magnitude));
  return copy_sign(select(above_1, quarter_turn - angle, angle), x);
}

Floats atan2(Floats y, Floats x) {
  const Floats rise = absolute(y), run = absolute(x);
  const Mask steep = rise > run;
  const Floats smaller = select(steep, run, rise), larger = select(steep, rise, run);
  // Equal ones count as 1, infinite ones too, but zeros as 0.
  const Floats ratio = select(smaller == larger, select(larger == 0.0, 0.0, larger.constant(1)), smaller / larger);
  const Floats angle = arc_tangent(ratio);
  const Floats upper = select(steep, quarter_turn - angle, angle);
  return copy_sign(select(has_sign(x), half_turn - upper, upper), y);
}

}  // namespace metalloid::ir::math
