// The host gives threadgroup memory for halves, the kernel keeps floats in it.
// CHECK: --threads 64 --group 64 --threadgroup-memory 0=128 --arg x=f16[64]=arange
// CHECK REPAIRED: --threads 64 --group 64 --threadgroup-memory 0=256 --arg x=f16[64]=arange
// FINDS: out-of-bounds keep
// FINDS: out-of-bounds take
#include <metal_stdlib>
using namespace metal;

kernel void reversed(device half* x, threadgroup float* t [[threadgroup(0)]],
                     uint i [[thread_position_in_threadgroup]]) {
  t[i] = float(x[i]);  // @keep
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = half(t[63 - i]);  // @take
}
