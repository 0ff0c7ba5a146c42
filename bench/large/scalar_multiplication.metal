// Multiples of points of BN254's curve by doubling and adding: every thread has another scalar.
#include "curve.h"

using namespace metal;

Point multiply_point(thread const Point& p, uint scalar) {
  Point sum = infinity();
  Point power = p;
  while (scalar != 0) {
    if (scalar & 1) sum = add_points(sum, power);
    scalar >>= 1;
    if (scalar != 0) power = double_point(power);
  }
  return sum;
}

kernel void scalar_multiplication(device Point* results [[buffer(0)]], device const Point* points [[buffer(1)]],
                                  device const uint* scalars [[buffer(2)]], uint id [[thread_position_in_grid]]) {
  const Point p = points[id];
  results[id] = multiply_point(p, scalars[id]);
}
