// The quotient is computed for all, and used where the divisor is not zero.
// CHECK: --threads 4 --group 4 --arg x=i32[4]=0,1,2,0 --arg out=i32[12]=zeros
#include <metal_stdlib>
using namespace metal;

kernel void quotients(device const int* x, device int* out, uint i [[thread_position_in_grid]]) {
  const int q = 100 / x[i];
  const int y = x[i] ? q : 0;
  out[i] = y;
  int r = 100 % x[i] + 1;
  if (x[i] == 0) r = 7;
  out[i + 4] = r;
  const int2 both = 100 / int2(x[i], x[i] + 1);
  out[i + 8] = both.y;
}
