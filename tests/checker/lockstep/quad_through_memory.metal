// The four threads of a quad put their channels together through threadgroup memory.
// CHECK: --threads 8,8 --group 8,8 --arg x=u8[64]=arange --arg out=u8[64]=zeros
// FINDS: lockstep put take
#include <metal_stdlib>
using namespace metal;

kernel void channels(device const uchar* x, device uchar* out, uint i [[thread_index_in_threadgroup]],
                     uint lane [[thread_index_in_quadgroup]]) {
  threadgroup uchar t[64];
  t[i] = x[i];  // @put
#ifdef REPAIRED
  simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
  out[i] = t[i - lane + (lane + 1) % 4];  // @take
}
