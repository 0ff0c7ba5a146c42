// Values and indices share one piece of dynamic threadgroup memory; the indices begin in the middle of the values.
// CHECK: --threads 64 --group 64 --threadgroup-memory 0=512 --arg x=f32[64]=uniform --arg out=u32[64]=zeros
// FINDS: threadgroup-race value index
#include <metal_stdlib>
using namespace metal;

kernel void keys(device const float* x, device uint* out, threadgroup uint* shared [[threadgroup(0)]],
                 uint i [[thread_position_in_threadgroup]]) {
#ifdef REPAIRED
  threadgroup uint* indices = shared + 64;
#else
  threadgroup uint* indices = shared + 32;
#endif
  shared[i] = as_type<uint>(x[i]);  // @value
  indices[i] = i + 1;               // @index
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = shared[63 - i] > 0 ? indices[63 - i] : 0;
}
