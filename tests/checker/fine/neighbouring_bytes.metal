// Threads write neighbouring bytes and halves of one word, each its own.
// CHECK: --threads 64 --group 32 --arg a=u8[64]=zeros --arg b=f16[64]=zeros
#include <metal_stdlib>
using namespace metal;

kernel void own_bytes(device uchar* a, device half* b, uint i [[thread_position_in_grid]]) {
  threadgroup char t[32];
  t[i % 32] = char(i);
  a[i] = t[i % 32];
  b[i] = half(i);
}
