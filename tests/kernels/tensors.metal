// Tensors: bound by the host with their extents (a row-major array's shape, reversed), and made in a kernel.
// COMPILE: -std=metal4.0
#include <metal_stdlib>
#include <metal_tensor>
using namespace metal;

using Matrix = tensor<device float, dextents<int, 2>, tensor_handle>;

kernel void transpose(tensor<const device float, dextents<int, 2>> x, Matrix y,
                      uint2 id [[thread_position_in_grid]]) {
  y[id.y, id.x] = x[id.x, id.y];
}
// RUN: --kernel transpose --threads 3,2 --group 2,2 --arg x=f32[2,3]=0,1,2,3,4,5 --arg y=f32[3,2]=zeros
// EXPECT y: 0 3 1 4 2 5
// RUN: --kernel transpose --threads 3,2 --group 2,2 --arg x=f32[6]=0,1,2,3,4,5 --arg y=f32[3,2]=zeros
// ERROR invalid_argument: kernel 'transpose': argument 'x' at index 0 is a tensor of rank 2; rank 1 given

// Arrays of indices; the rank is a constant.
kernel void by_array(tensor<device int, dextents<int, 3>> x [[buffer(1)]], uint3 id [[thread_position_in_grid]]) {
  array<uint, x.get_rank()> at = {id.x, id.y, id.z};
  x[at] += x.get_extent(0) + 10 * x.get_extent(1) + 100 * x.get_extent(2) + 1000 * x.get_stride(2);
}
// RUN: --kernel by_array --threads 2,3,1 --group 2,3,1 --arg x=i32[1,3,2]=0,1,2,3,4,5
// EXPECT x: 6132 6133 6134 6135 6136 6137

kernel void out_of_bounds(tensor<device float, dextents<int, 2>> x, tensor<device float, dextents<int, 1>> y) {
  y[0] = x.get(1, 1);
  y[1] = x.get(2, 1);
  y[2] = x.get(-1, 0);
  x.set(50, 2, 0);
  x.set(60, 0, 2);
  x.set(70, 1, 0);
  x.set(80, array<int, 2>{0, -1});
}
// RUN: --kernel out_of_bounds --threads 1 --group 1 --arg x=f32[2,2]=1,2,3,4 --arg y=f32[3]=ones
// EXPECT x: 1 70 3 4
// EXPECT y: 4 0 0

kernel void slices(tensor<device int, dextents<int, 2>> x, device int* y) {
  auto rest = x.slice(1, 1);
  auto fixed = x.slice<2, 2>(2, 2);
  y[0] = rest[0, 0];
  y[1] = rest.get_extent(0) * 10 + rest.get_extent(1);
  y[2] = fixed[0, 0];
  y[3] = fixed.get(1, 0) + fixed.get(0, 1);  // over the edge
  y[4] = fixed.has_all_static_extents() * 100 + fixed.get_static_extent(0) * 10 + fixed.get_extent(1);
  y[5] = is_same_v<decltype(rest), tensor<device int, dextents<int, 2>, tensor_handle, tensor_offset>>;
}
// RUN: --kernel slices --threads 1 --group 1 --arg x=i32[3,3]=0,1,2,3,4,5,6,7,8 --arg y=i32[6]=zeros
// EXPECT y: 4 22 8 0 122 1

// Made in the kernel from memory, extents and strides; both are deduced.
kernel void inline_tensors(device int* x, device int* y) {
  threadgroup int memory[4];
  auto plain = tensor(x, dextents<int, 2>(3, 2));
  auto padded = tensor(x, extents<int, 2, dynamic_extent>(2), array<int, 2>({1, 3}));
  auto local = tensor<threadgroup int, dextents<int, 2>, tensor_inline>(memory, dextents<int, 2>(2, 2));
  local[1, 1] = 7;
  y[0] = plain[2, 1];
  y[1] = padded[1, 1];
  y[2] = padded.get_extent(0) * 10 + padded.get_extent(1);
  y[3] = local[1, 1] + memory[3];
  y[4] = plain.slice(1, 1)[1, 0];
  y[5] = decltype(padded)::has_static_extent(0) * 10 + decltype(padded)::has_static_extent(1);
}
// RUN: --kernel inline_tensors --threads 1 --group 1 --arg x=i32[6]=0,1,2,3,4,5 --arg y=i32[6]=zeros
// EXPECT y: 5 4 22 14 5 10

// An extent in the type is a demand on what is bound.
kernel void fixed_width(tensor<device float, extents<int, 4, dynamic_extent>> x) { x[3, 1] = x.get_extent(1); }
// RUN: --kernel fixed_width --threads 1 --group 1 --arg x=f32[2,4]=zeros
// EXPECT x: 0 x 7 2
// RUN: --kernel fixed_width --threads 1 --group 1 --arg x=f32[2,3]=zeros
// ERROR invalid_argument: tensor 'x' at index 0 has extent 4 in dimension 0; 3 given

// No dimensions: one element.
kernel void scalar(tensor<device half, dextents<int, 0>> x) { x[] = x[] + 1.0h; }
// RUN: --kernel scalar --threads 1 --group 1 --arg x=f16:3
// EXPECT x: 4

// Every thread reads and writes its own row while barriers hold the threadgroup together.
kernel void rows(tensor<device float, dextents<int, 2>> x, uint i [[thread_position_in_threadgroup]]) {
  threadgroup float sums[4];
  float sum = 0;
  for (int k = 0; k < x.get_extent(0); ++k) sum += x[k, i];
  sums[i] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[0, i] = sums[3 - i];
}
// RUN: --kernel rows --threads 4 --group 4 --arg x=f32[4,2]=0,1,2,3,4,5,6,7
// EXPECT x: 13 1 9 3 5 5 1 7

// Integers of 4 bits, two in a byte.
kernel void half_bytes(device uchar* bytes, device int* y) {
  tensor<device int4b_format, dextents<int, 2>, tensor_inline> x(bytes, dextents<int, 2>(3, 2));
  tensor<const device uint4b_format, dextents<int, 1>, tensor_inline> unsigned_x(bytes, dextents<int, 1>(6));
  y[0] = x[0, 0];
  y[1] = int(x[1, 0]);
  y[2] = x[0, 1];
  y[3] = x.slice(1, 1)[0, 0];
  y[4] = x.get(3, 0);
  y[5] = unsigned_x[3];
  x[0, 0] = -1;
  x.set(5, 1, 0);
}
// RUN: --kernel half_bytes --threads 1 --group 1 --arg bytes=u8[3]=0x28,0xf7,0x19 --arg y=i32[6]=zeros
// EXPECT bytes: 95 247 25
// EXPECT y: -8 2 -1 -7 0 15
