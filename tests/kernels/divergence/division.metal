// Lanes that take no part bring no divisor.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel quotients --threads 40 --group 64 --arg a=i64[40]=arange --arg b=i64[35]=ones --arg c=i64[40]=zeros
// EXPECT c: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 0 0 0 0 0
kernel void quotients(device const long* a, device const long* b, device long* c,
                      uint i [[thread_position_in_grid]]) {
  if (i < 35) c[i] = a[i] / b[i] + a[i] % b[i];
}
