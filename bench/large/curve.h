// The curve y^2 = x^3 + 3 over BN254's field, in Jacobian coordinates: (x, y, z) is the point (x / z^2, y / z^3), and
// any with z = 0 is the point at infinity.
#pragma once

#include "bn254.h"

struct Point {
  Field x, y, z;

  bool is_infinity() const thread { return is_zero(z); }
};

inline Point infinity() { return {one(), one(), zero()}; }

__attribute__((noinline)) Point double_point(thread const Point& p) {
  const Field a = square(p.x), b = square(p.y), c = square(b);
  Field d = subtract(subtract(square(add(p.x, b)), a), c);
  d = twice(d);
  const Field e = add(twice(a), a);
  Point result;
  result.x = subtract(square(e), twice(d));
  result.y = subtract(multiply(e, subtract(d, result.x)), twice(twice(twice(c))));
  result.z = twice(multiply(p.y, p.z));
  return result;
}

inline Point add_points(Point p, Point q) {
  if (p.is_infinity()) return q;
  if (q.is_infinity()) return p;
  const Field p_zz = square(p.z), q_zz = square(q.z);
  const Field p_x = multiply(p.x, q_zz), q_x = multiply(q.x, p_zz);
  const Field p_y = multiply(p.y, multiply(q.z, q_zz)), q_y = multiply(q.y, multiply(p.z, p_zz));
  if (equal(p_x, q_x)) return equal(p_y, q_y) ? double_point(p) : infinity();
  const Field width = subtract(q_x, p_x), height = subtract(q_y, p_y);
  const Field width_2 = square(width), width_3 = multiply(width, width_2), part = multiply(p_x, width_2);
  Point result;
  result.x = subtract(subtract(square(height), width_3), twice(part));
  result.y = subtract(multiply(height, subtract(part, result.x)), multiply(p_y, width_3));
  result.z = multiply(width, multiply(p.z, q.z));
  return result;
}
