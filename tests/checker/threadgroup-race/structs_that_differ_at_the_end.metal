// All write one struct, and its last number is another in each simdgroup.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=zeros
// FINDS: threadgroup-race store store
#include <metal_stdlib>
using namespace metal;

struct Item {
  float4 place;
  uint2 first;
  uint last;
};

kernel void items(device float* x, uint i [[thread_position_in_threadgroup]]) {
#ifdef REPAIRED
  const uint last = 1;
#else
  const uint last = i / 32;
#endif
  threadgroup Item item;
  item = Item{float4(1, 2, 3, 4), uint2(5, 6), last};  // @store
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = item.place.x + item.last;
}
