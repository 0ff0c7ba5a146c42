// Threadgroups of all shapes, whose threads meet, in a program that is not made for all of them at once.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel arranged --threadgroups 2 --group 32 --arg out=u32[2]=zeros
// EXPECT out: 1286518272 1286518272
// RUN: --kernel arranged --threadgroups 2 --group 64 --arg out=u32[2]=zeros
// EXPECT out: 253271040 253271040
// RUN: --kernel arranged --threadgroups 2 --group 40 --arg out=u32[2]=zeros
// EXPECT out: 3584173600 3584173600
// RUN: --kernel arranged --threadgroups 2 --group 1 --arg out=u32[2]=zeros
// EXPECT out: 18641347 18641347
// RUN: --kernel arranged --threadgroups 2 --group 16,16 --arg out=u32[2]=zeros
// EXPECT out: 747999232 747999232
// RUN: --kernel arranged --threadgroups 2 --group 16,4 --arg out=u32[2]=zeros
// EXPECT out: 787545088 787545088
// RUN: --kernel arranged --threadgroups 2 --group 16,3 --arg out=u32[2]=zeros
// EXPECT out: 3481945280 3481945280
// RUN: --kernel arranged --threadgroups 2 --group 16,1 --arg out=u32[2]=zeros
// EXPECT out: 3849377280 3849377280
// RUN: --kernel arranged --threadgroups 2 --group 8,8 --arg out=u32[2]=zeros
// EXPECT out: 2644984832 2644984832
// RUN: --kernel arranged --threadgroups 2 --group 32,2,2 --arg out=u32[2]=zeros
// EXPECT out: 826209792 826209792
// RUN: --kernel arranged --threadgroups 2 --group 16,2,3 --arg out=u32[2]=zeros
// EXPECT out: 3455536384 3455536384
// RUN: --kernel arranged --threadgroups 2 --group 5,3,2 --arg out=u32[2]=zeros
// EXPECT out: 421097214 421097214
// RUN: --kernel arranged --threadgroups 2 --group 1,64 --arg out=u32[2]=zeros
// EXPECT out: 2946857984 2946857984
// RUN: --kernel arranged --threadgroups 2 --group 1,32,3 --arg out=u32[2]=zeros
// EXPECT out: 1602603520 1602603520
// RUN: --kernel arranged --threadgroups 2 --group 1,40 --arg out=u32[2]=zeros
// EXPECT out: 3839958560 3839958560
// RUN: --kernel arranged --threadgroups 2 --group 2,32 --arg out=u32[2]=zeros
// EXPECT out: 3758898176 3758898176
// RUN: --kernel arranged --threadgroups 2 --group 1,1,32 --arg out=u32[2]=zeros
// EXPECT out: 3512812032 3512812032
kernel void arranged(device uint* out, uint3 at [[thread_position_in_threadgroup]],
                     uint3 size [[threads_per_threadgroup]], uint t [[thread_index_in_threadgroup]],
                     uint3 group [[threadgroup_position_in_grid]]) {
  threadgroup uint kept[256];
  const uint threads = size.x * size.y * size.z;
  kept[t] = 1 + at.x + 100 * at.y + 10000 * at.z;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 12; ++k) {
    const uint next = kept[t] * 3 + kept[(t * 7 + k) % threads] + (t ^ k);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    kept[t] = next;
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  atomic_fetch_add_explicit((device atomic_uint*)out + group.x, kept[t] * (t + 1), memory_order_relaxed);
}

// Columns of threads that do not meet, so many that they have code of their own.
// RUN: --kernel columns --threads 64,1024 --group 1,64 --arg out=u32[64,1024]=zeros --arg sums=u32[2]=zeros
// EXPECT sums: 2147450880 2016
kernel void columns(device uint* out, device uint* sums, uint2 at [[thread_position_in_grid]],
                    uint2 inside [[thread_position_in_threadgroup]]) {
  out[at.x * 1024 + at.y] = at.x * 1024 + at.y;
  if (at.y == 0) atomic_fetch_add_explicit((device atomic_uint*)sums + 1, at.x, memory_order_relaxed);
  const uint own = out[at.x * 1024 + at.y] + inside.x + (inside.y == at.y % 64 ? 0 : 1);
  atomic_fetch_add_explicit((device atomic_uint*)sums, own, memory_order_relaxed);
}
