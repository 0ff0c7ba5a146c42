// A polynomial in half.
#include <metal_stdlib>
using namespace metal;

kernel void half_polynomial(device half* out, device const half* in, uint i [[thread_position_in_grid]]) {
  const half x = in[i];
  half sum = 0.125h;
  for (uint k = 0; k < 16; ++k) sum = sum * x + 0.25h;
  out[i] = sum;
}
