// An array is taken for one of vectors from an element on that is none of theirs; and a member of a struct is.
// CHECK: --threads 4 --group 4 --arg x=f16[32]=arange --arg out=f32[4]=zeros
// FINDS: misaligned array
// FINDS: misaligned own
// FINDS: misaligned member
#include <metal_stdlib>
using namespace metal;

#ifdef REPAIRED
#define SHIFT 4
#else
#define SHIFT 2
#endif

struct Rows {
#ifndef REPAIRED
  half scale;
#endif
  half values[20];
};

kernel void sums(device const half* x, device float* out, uint i [[thread_position_in_grid]]) {
  threadgroup half shared[32];
  threadgroup Rows rows;
  half own[32];
  for (uint k = 0; k < 8; ++k) shared[8 * i + k] = x[8 * i + k];
  for (uint k = 0; k < 5; ++k) rows.values[5 * i + k] = x[5 * i + k];
  for (uint k = 0; k < 32; ++k) own[k] = x[k];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const half4 a = ((threadgroup half4*)(shared + SHIFT))[i];  // @array
  const half4 b = ((thread half4*)(own + SHIFT))[i];  // @own
  const half2 c = *(threadgroup half2*)rows.values;  // @member
  out[i] = a.x + a.w + b.y + c.x;
}
