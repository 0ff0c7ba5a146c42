// Compaction: the scan that gives each kept element its place runs in the lanes that keep one. The others have nothing
// to do any more, and a scan is over the lanes that take part.
// CHECK: --threads 32 --group 32 --arg x=i32[32]=arange --arg out=i32[32]=zeros
#include <metal_stdlib>
using namespace metal;

kernel void keep_odd(device const int* x, device int* out, uint i [[thread_position_in_grid]]) {
  if (x[i] % 2 == 1) {
    const uint place = simd_prefix_exclusive_sum(1u);
    out[place] = x[i];
  }
}
