// Components of vectors count as their vectors: those lie where none may lie, in every kind of memory.
// CHECK: --threads 4 --group 4 --arg x=f32[24]=arange --arg out=f32[4]=zeros
// FINDS: misaligned device
// FINDS: misaligned shared
// FINDS: misaligned own
// FINDS: misaligned first
// FINDS: misaligned write
#include <metal_stdlib>
using namespace metal;

#ifdef REPAIRED
constant uint shift = 4;
#else
constant uint shift = 1;
#endif

kernel void sums(device const float* x, device float* out, uint i [[thread_position_in_grid]]) {
  threadgroup float shared[24];
  float own[24];
  for (uint k = 0; k < 6; ++k) shared[6 * i + k] = x[6 * i + k];
  for (uint k = 0; k < 24; ++k) own[k] = x[k];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = ((device const float4*)(x + shift))[i].w;  // @device
  sum += ((threadgroup float4*)(shared + shift))[i].z;  // @shared
  sum += ((thread float4*)(own + shift + 4 * i))->y;  // @own
  sum += (*(thread float2*)&own[shift + 4 * i]).x;  // @first
  threadgroup_barrier(mem_flags::mem_threadgroup);
  ((threadgroup float3*)(shared + shift))[i].y = sum;  // @write
  out[i] = sum + shared[shift + 4 * i + 1];
}
