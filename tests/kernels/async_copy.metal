// Copies by a simdgroup, declared with assembler labels as public matrix kernels do.
#include <metal_stdlib>
using namespace metal;

struct event_t;
thread event_t* copy_in(ulong size, ulong alignment, threadgroup void* to, const device void* from, ulong count)
    __asm("air.simdgroup_async_copy_1d.p3i8.p1i8");
thread event_t* copy_out(ulong size, ulong alignment, device void* to, const threadgroup void* from, ulong count)
    __asm("air.simdgroup_async_copy_1d.p1i8.p3i8");
thread event_t* copy_tile_in(ulong size, ulong alignment, threadgroup void* to, ulong to_row, ulong to_stride,
                             ulong2 to_tile, const device void* from, ulong from_row, ulong from_stride,
                             ulong2 from_tile, long2 offset, int clamp_mode)
    __asm("air.simdgroup_async_copy_2d.p3i8.p1i8");
void wait(int count, thread event_t** events) __asm("air.wait_simdgroup_events");

// RUN: --kernel reverse --threads 40 --group 40 --arg x=f32[8]=arange --arg y=f32[8]=zeros
// EXPECT y: 7 6 5 4 3 2 1 0
kernel void reverse(const device float* x, device float* y, uint i [[thread_index_in_threadgroup]]) {
  threadgroup float tile[8];
  threadgroup float turned[8];
  if (i < 32) {
    thread event_t* event = copy_in(4, 4, tile, x, 8);
    wait(1, &event);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < 8) turned[i] = tile[7 - i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i < 32) {
    thread event_t* event = copy_out(4, 4, y, turned, 8);
    wait(1, &event);
  }
}

// A tile of 4 x 3 halves out of a matrix of 2 x 2 in rows of 5: zeros, or the nearest element, outside.
// RUN: --kernel tiles --threads 32 --group 32 --arg x=f16[10]=arange --arg y=f32[24]=zeros
// EXPECT y: 0 1 0 0 5 6 0 0 0 0 0 0 0 1 1 1 5 6 6 6 5 6 6 6
kernel void tiles(const device half* x, device float* y, uint i [[thread_index_in_threadgroup]]) {
  threadgroup half tile[24];
  thread event_t* events[2];
  events[0] = copy_tile_in(2, 2, tile, 4, 1, ulong2(4, 3), x, 5, 1, ulong2(2, 2), long2(0), 0);
  events[1] = copy_tile_in(2, 2, tile + 12, 4, 1, ulong2(4, 3), x, 5, 1, ulong2(2, 2), long2(0), 1);
  wait(2, events);
  if (i < 24) y[i] = tile[i];
}
