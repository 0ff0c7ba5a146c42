// A histogram of brightness: the bins are not cleared, and pixels behind the picture are counted.
// CHECK: --threads 64 --group 64 --arg picture=u8[60]=arange --arg bins=u32[6]=zeros --arg n=60
// FINDS: uninitialised count
// FINDS: out-of-bounds pixel
#include <metal_stdlib>
using namespace metal;

kernel void histogram(device const uchar* picture, device uint* bins, constant uint& n,
                      uint i [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint counts[6];
#ifdef REPAIRED
  if (i < 6) atomic_store_explicit(&counts[i], 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < n) atomic_fetch_add_explicit(&counts[picture[i] / 10], 1, memory_order_relaxed);
#else
  const uint pixel = picture[i];                                                     // @pixel
  atomic_fetch_add_explicit(&counts[min(pixel / 10, 5u)], 1, memory_order_relaxed);  // @count
#endif
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < 6) bins[i] = atomic_load_explicit(&counts[i], memory_order_relaxed);
}
