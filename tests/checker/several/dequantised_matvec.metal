// Four-bit weights times a vector: the weights are read as words that are not aligned, the last word hangs over the
// end, and each simdgroup adds its part to the row plainly.
// CHECK: --threads 64 --group 64 --arg w=u8[256]=arange --arg y=u32[1]=zeros
// FINDS: misaligned word
// FINDS: out-of-bounds word
// FINDS: device-race add add
#include <metal_stdlib>
using namespace metal;

kernel void matvec(device const uchar* w, device uint* y, uint i [[thread_position_in_threadgroup]],
                   uint lane [[thread_index_in_simdgroup]]) {
  device const uchar* weights = w + 2;  // behind the scale
  uint sum = 0;
#ifdef REPAIRED
  for (uint k = 4 * i; k < min(4 * i + 4, 254u); ++k) sum += popcount(uint(weights[k]));
#else
  sum = popcount(((device const uint*)weights)[i]);  // @word
#endif
  sum = simd_sum(sum);
#ifdef REPAIRED
  if (lane == 0) atomic_fetch_add_explicit((device atomic_uint*)y, sum, memory_order_relaxed);
#else
  if (lane == 0) y[0] += sum;  // @add
#endif
}
