// Pointers that a thread keeps in arrays and structs belong to the arguments and variables that they were made of.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel rows --threads 2 --group 2 --arg x=f32[8,16]=ones --arg out=f32[8]=zeros --arg n=15
// EXPECT out: 15 x 8
// RUN: --kernel rows --threads 2 --group 2 --arg x=f32[6,16]=ones --arg out=f32[8]=zeros --arg n=15
// ERROR out_of_bounds: kernel 'rows' reads outside of argument 'x' (buffer 0)
// ERROR out_of_bounds: thread (1, 0, 0)
kernel void rows(device const float* x, device float* out, constant uint& n, uint i [[thread_position_in_grid]]) {
  device const float* rows[4];
  for (int r = 0; r < 4; ++r) rows[r] = x + (i * 4 + r) * 16;
  float sums[4] = {0};
  for (uint k = 0; k < n; ++k)
    for (int r = 0; r < 4; ++r) sums[r] += rows[r][k];
  for (int r = 0; r < 4; ++r) out[i * 4 + r] = sums[r];
}

// In loops that stay, at indices that nobody knows before.
// RUN: --kernel rows_in_loops --threads 2 --group 2 --arg x=f32[8,16]=arange --arg out=f32[2]=zeros --arg n=15
// EXPECT out: 441 1401
// RUN: --kernel rows_in_loops --threads 2 --group 2 --arg x=f32[6,16]=arange --arg out=f32[2]=zeros --arg n=15
// ERROR out_of_bounds: kernel 'rows_in_loops' reads outside of argument 'x' (buffer 0)
// ERROR out_of_bounds: thread (1, 0, 0)
kernel void rows_in_loops(device const float* x, device float* out, constant uint& n,
                          uint i [[thread_position_in_grid]]) {
  device const float* rows[4];
#pragma clang loop unroll(disable)
  for (uint r = 0; r < 4; ++r) rows[(r * n) % 4] = x + (i * 4 + r) * 16;
  float sum = 0;
#pragma clang loop unroll(disable)
  for (uint k = 0; k < n; ++k) sum += rows[(k * n) % 4][k];
  out[i] = sum;
}

// Of several arguments.
// RUN: --kernel either --threads 4 --group 4 --arg x=f32[8]=zeros --arg y=f32[6]=zeros --arg far=2
// EXPECT x: 0 0 10 0 12 0 0 0
// EXPECT y: 0 0 0 11 0 13
// RUN: --kernel either --threads 4 --group 4 --arg x=f32[8]=zeros --arg y=f32[5]=zeros --arg far=2
// ERROR out_of_bounds: kernel 'either' writes outside of argument 'y' (buffer 1): element 5 of 5 (bytes 20 to 23 of 20)
// ERROR out_of_bounds: thread (3, 0, 0)
// RUN: --kernel either --threads 4 --group 4 --arg x=f32[4]=zeros --arg y=f32[8]=zeros --arg far=2
// ERROR out_of_bounds: kernel 'either' writes outside of argument 'x' (buffer 0): element 4 of 4 (bytes 16 to 19 of 16)
// ERROR out_of_bounds: thread (2, 0, 0)
kernel void either(device float* x, device float* y, constant uint& far, uint i [[thread_position_in_grid]]) {
  device float* both[2] = {x, y};
  both[i % 2][i + far] = 10 + i;
}

// In a struct that is copied, and moved on from what is kept.
struct Cursor {
  device const float* from;
  device float* to;
  uint left;
};
// RUN: --kernel cursors --threads 4 --group 4 --arg x=f32[16]=arange --arg y=f32[16]=zeros --arg length=4
// EXPECT y: 0 1 4 9 16 25 36 49 64 81 100 121 144 169 196 225
// RUN: --kernel cursors --threads 4 --group 4 --arg x=f32[16]=arange --arg y=f32[17]=zeros --arg length=5
// ERROR out_of_bounds: kernel 'cursors' reads outside of argument 'x' (buffer 0): element 16 of 16 (bytes 64 to 67 of 64)
// RUN: --kernel cursors --threads 4 --group 4 --arg x=f32[17]=arange --arg y=f32[16]=zeros --arg length=5
// ERROR out_of_bounds: kernel 'cursors' writes outside of argument 'y' (buffer 1): element 16 of 16 (bytes 64 to 67 of 64)
kernel void cursors(device const float* x, device float* y, constant uint& length,
                    uint i [[thread_position_in_grid]]) {
  Cursor all[3];
  all[i % 2] = {x + 4 * i, y + 4 * i, length};
  all[2] = all[i % 2];
#pragma clang loop unroll(disable)
  for (uint at = 2; all[at].left > 0; at = 2 - at % 2) {
    *all[at].to = *all[at].from * *all[at].from;
    ++all[at].to;
    ++all[at].from;
    --all[at].left;
  }
}

// Of threadgroup memory.
// RUN: --kernel tiles --threads 8 --group 8 --arg out=f32[8]=zeros --arg far=0
// EXPECT out: 0 101 2 103 4 105 6 107
// RUN: --kernel tiles --threads 8 --group 8 --arg out=f32[8]=zeros --arg far=1
// ERROR out_of_bounds: kernel 'tiles' reads outside of the threadgroup's variable 'second': element 8 of 8 (bytes 32 to 35 of 32)
// ERROR out_of_bounds: thread (7, 0, 0)
kernel void tiles(device float* out, constant uint& far, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float first[8], second[8];
  first[i] = i;
  second[i] = 100 + i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup float* tiles[2];
  tiles[0] = first;
  tiles[1] = second;
  out[i] = tiles[i % 2][i + far];
}

// Of variables of the thread itself.
// RUN: --kernel own --threads 4 --group 4 --arg out=f32[4]=zeros --arg far=0
// EXPECT out: 1 20 1 20
// RUN: --kernel own --threads 4 --group 4 --arg out=f32[4]=zeros --arg far=2
// ERROR out_of_bounds: kernel 'own' reads outside of a thread's variable 'small': element 2 of 2 (bytes 8 to 11 of 8)
kernel void own(device float* out, constant uint& far, uint i [[thread_position_in_grid]]) {
  float small[2] = {1, 2}, large[3] = {10, 20, 30};
  thread float* both[2] = {small, large + 1};
  out[i] = both[(i + 2 * far) % 2][far];
}

// In functions that stay calls (reference).
struct Loader {
  device const float* from;
  constant uint* strides;
};
__attribute__((noinline)) float take(thread Loader& loader, uint k) {
  const float value = *loader.from;
  loader.from += loader.strides[k];
  return value;
}
__attribute__((noinline)) Loader begin(device const float* x, constant uint* strides, uint i) {
  return {x + i, strides};
}
__attribute__((noinline)) void put(device float* out, float value) { *out = value; }

// RUN: --kernel loaders --threads 4 --group 4 --arg x=f32[12]=arange --arg strides=u32[3]=4 --arg out=f32[4]=zeros --arg steps=3
// EXPECT out: 12 15 18 21
// RUN: --kernel loaders --threads 4 --group 4 --arg x=f32[11]=arange --arg strides=u32[3]=4 --arg out=f32[4]=zeros --arg steps=3
// ERROR out_of_bounds: kernel 'loaders' reads outside of argument 'x' (buffer 0): element 11 of 11 (bytes 44 to 47 of 44)
// RUN: --kernel loaders --threads 4 --group 4 --arg x=f32[12]=arange --arg strides=u32[2]=4 --arg out=f32[4]=zeros --arg steps=3
// ERROR out_of_bounds: kernel 'loaders' reads outside of argument 'strides' (buffer 1): element 2 of 2 (bytes 8 to 11 of 8)
// RUN: --kernel loaders --threads 4 --group 4 --arg x=f32[12]=arange --arg strides=u32[3]=4 --arg out=f32[3]=zeros --arg steps=3
// ERROR out_of_bounds: kernel 'loaders' writes outside of argument 'out' (buffer 2): element 3 of 3 (bytes 12 to 15 of 12)
kernel void loaders(device const float* x, constant uint* strides, device float* out, constant uint& steps,
                    uint i [[thread_position_in_grid]]) {
  Loader loader = begin(x, strides, i);
  if (loader.strides != strides || loader.from - x != i) return;
  float sum = 0;
  for (uint k = 0; k < steps; ++k) sum += take(loader, k);
  put(out + i, sum);
}
