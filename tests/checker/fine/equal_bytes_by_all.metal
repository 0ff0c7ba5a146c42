// Threads write the same vectors, structs, arrays and numbers to one place, and zeros of different widths: notes.
// CHECK: --threads 64 --group 64 --arg x=f32[64]=zeros --arg brain=bf16[2]=zeros
#include <metal_stdlib>
using namespace metal;

struct Item {
  char tag;
  float4 place;
};

kernel void filled(device float* x, device bfloat* brain, uint i [[thread_position_in_threadgroup]]) {
  threadgroup half4 halves[2];
  threadgroup float3 place;
  threadgroup Item item;
  threadgroup float zeros[8] = {0};
  threadgroup float sums[4];
  halves[1] = half4(1.0h, 2.0h, 3.0h, 4.0h);
  place = float3(1, 2, 3);
  item = Item{5, float4(1, 2, 3, 4)};
  brain[0] = bfloat(2.0f);
  brain[1] = bfloat(3.0f);
  if (i % 2 == 0) {
    *(threadgroup float4*)sums = float4(0, 0, 0, 0);
  } else {
    sums[2] = 0;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = halves[1].x + place.y + item.place.z + zeros[i % 8] + sums[2];
}
