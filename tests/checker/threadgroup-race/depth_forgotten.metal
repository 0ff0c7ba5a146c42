// A three-dimensional threadgroup, and an index into threadgroup memory without its depth.
// CHECK: --threads 4,4,4 --group 4,4,4 --arg x=i32[64]=arange --arg out=i32[64]=zeros
// FINDS: threadgroup-race write write
#include <metal_stdlib>
using namespace metal;

template <typename T>
void put(threadgroup T* to, uint at, T value) {
  to[at] = value;  // @write
}

kernel void layers(device const int* x, device int* out, uint3 p [[thread_position_in_threadgroup]],
                   uint i [[thread_index_in_threadgroup]]) {
  threadgroup int t[64];
#ifdef REPAIRED
  const uint at = (p.z * 4 + p.y) * 4 + p.x;
#else
  const uint at = p.y * 4 + p.x;
#endif
  put(t, at, x[i]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = t[at];
}
