// A histogram in device memory with a plain ++. Within a threadgroup no value comes twice; those of two threadgroups
// meet.
// CHECK: --threads 128 --group 64 --arg x=u32[128]=arange --arg bins=u32[64]=zeros
// FINDS: device-race count count
#include <metal_stdlib>
using namespace metal;

kernel void histogram(device const uint* x, device uint* bins, uint i [[thread_position_in_grid]]) {
#ifdef REPAIRED
  atomic_fetch_add_explicit((device atomic_uint*)bins + x[i] % 64, 1, memory_order_relaxed);
#else
  bins[x[i] % 64]++;  // @count
#endif
}
