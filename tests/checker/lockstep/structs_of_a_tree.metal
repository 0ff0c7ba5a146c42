// The last steps of a search for the largest: structs are copied from lane to lane, with nothing between.
// CHECK: --threads 32 --group 32 --arg x=f32[32]=arange --arg out=i32[1]=zeros
// FINDS: lockstep copy copy
#include <metal_stdlib>
using namespace metal;

struct Best {
  float value;
  int index;
};

kernel void argmax(device const float* x, device int* out, uint i [[thread_position_in_threadgroup]]) {
  threadgroup Best best[32];
  best[i] = Best{x[i], int(i)};
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint step = 16; step > 0; step /= 2) {
    if (i < step) best[i] = best[i + step];  // @copy
#ifdef REPAIRED
    simdgroup_barrier(mem_flags::mem_threadgroup);
#endif
  }
  if (i == 0) out[0] = best[0].index;
}
