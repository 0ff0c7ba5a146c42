// Threadgroups of one thread, so many that they have code of their own.
#include <metal_stdlib>
using namespace metal;

static void add(device uint* to, uint x) {
  atomic_fetch_add_explicit((device atomic_uint*)to, x, memory_order_relaxed);
}

__attribute__((noinline)) static uint steps(uint x) {
  uint count = 0;
  while (x != 1) {
    x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    ++count;
  }
  return count + simd_max(count);
}

// RUN: --kernel alone --threads 65536 --group 1 --arg out=u32[6]=zeros
// EXPECT out: 65536 2147450880 65536 65536 1 222
kernel void alone(device uint* out, uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]],
                  uint lane [[thread_index_in_simdgroup]], uint size [[threads_per_threadgroup]]) {
  add(out, 1);
  add(out + 1, simd_sum(i));
  add(out + 2, popcount(ulong(simd_active_threads_mask())));
  add(out + 3, 1 + t + lane + simd_prefix_exclusive_sum(i) + uint(!simd_all(lane == 0)));
  if (i == 40000) out[4] = size;
  if (i == 27) out[5] = steps(i);
}

// The last threadgroup's neighbours in y and z are not its threads.
// RUN: --kernel alone_in_space --threads 64,64,16 --group 1 --arg out=u32[2]=zeros
// EXPECT out: 65536 4620288
kernel void alone_in_space(device uint* out, uint3 at [[thread_position_in_grid]],
                           uint3 inside [[thread_position_in_threadgroup]]) {
  add(out, 1 + inside.x + inside.y + inside.z);
  add(out + 1, at.x + at.y + at.z);
}

// RUN: --kernel alone_at_barriers --threads 65536 --group 1 --arg out=u32[2]=zeros
// EXPECT out: 65536 32768
kernel void alone_at_barriers(device uint* out, uint i [[thread_position_in_grid]],
                              uint t [[thread_index_in_threadgroup]]) {
  threadgroup uint kept[2];
  kept[t] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < 3; ++k) {
    kept[(k + 1) % 2] = kept[k % 2] + 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  add(out, kept[1] - i == 3 ? 1 : 0);
  add(out + 1, kept[1] & 1);
}
