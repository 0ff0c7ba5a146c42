// Out-parameters that are set in every case, or read only where they were set.
// CHECK: --threads 8 --group 8 --arg x=i32[8]=1,-1,2,-2,3,-3,4,-4 --arg out=i32[8]=zeros
#include <metal_stdlib>
using namespace metal;

static void split(int x, thread int& sign, thread int* size) {
  if (x < 0) {
    sign = -1;
    *size = -x;
  } else {
    sign = 1;
    *size = x;
  }
}

static bool half_of(int x, thread int& half_x) {
  if (x % 2 != 0) return false;
  half_x = x / 2;
  return true;
}

kernel void both(device const int* x, device int* out, uint i [[thread_position_in_grid]]) {
  int sign, size, even;
  split(x[i], sign, &size);
  const bool is_even = half_of(x[i], even);
  out[i] = sign * size + (is_even ? even : 0);
}
