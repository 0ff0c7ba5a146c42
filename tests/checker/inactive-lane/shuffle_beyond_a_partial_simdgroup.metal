// Lanes are turned round within the simdgroup; the threadgroup has twenty threads.
// CHECK: --threads 20 --group 20 --arg x=f16[20]=arange --arg out=f16[20]=zeros
// FINDS: inactive-lane shuffle
#include <metal_stdlib>
using namespace metal;

kernel void reversed(device const half* x, device half* out, ushort lane [[thread_index_in_simdgroup]],
                     ushort threads [[threads_per_threadgroup]]) {
#ifdef REPAIRED
  const ushort last = threads - 1;
#else
  const ushort last = 31;
#endif
  out[lane] = simd_shuffle(x[lane], ushort(last - lane));  // @shuffle
}
