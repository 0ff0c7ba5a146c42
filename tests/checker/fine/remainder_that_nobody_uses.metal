// Variants of a kernel that leave out what they have divided for, with a host that gives no divisor to them.
// CHECK: --threads 32 --group 32 --arg x=f32[32]=ones --arg w=f32[1]=ones --arg rows=0 --constant fused=0
#include <metal_stdlib>
using namespace metal;

constant int fused [[function_constant(0)]];

template <bool is_scaled>
float scaled(float x, device const float* w, uint i, uint rows) {
  device const float* own = w + i % rows;
  const uint row = i / rows;
  return is_scaled ? x * own[row] : x;
}

kernel void scale(device float* x, device const float* w, constant uint& rows, uint i [[thread_position_in_grid]]) {
  const int4 place = int4(i) / int4(rows);
  uint column = i % rows;
  column += place.x;
  x[i] = scaled<false>(x[i], w, i, rows);
  if (fused == 2) x[i] += w[column + i / rows];
  x[i] += fused == 2 ? float(column) : 0.0f;
}
