// Sums of two points each of BN254's curve. Some pairs are equal, opposite or have the point at infinity.
#include "curve.h"

using namespace metal;

kernel void point_addition(device Point* results [[buffer(0)]], device const Point* p [[buffer(1)]],
                           device const Point* q [[buffer(2)]], uint id [[thread_position_in_grid]]) {
  results[id] = add_points(p[id], q[id]);
}
