// Operations on tiles stay inside of the memory that is bound, whatever sizes the source gives its tensors.
// COMPILE: --std metal4.0
#include <metal_stdlib>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;
using namespace mpp::tensor_ops;

template <typename T>
using Matrix = tensor<device T, dextents<int, 2>, tensor_inline>;

// RUN: --kernel product --threads 32 --group 32 --arg a=f32[64]=ones --arg b=f32[64]=ones --arg c=f32[64]=zeros --arg rows=8
// EXPECT c: 8 x 64
// RUN: --kernel product --threads 32 --group 32 --arg a=f32[32]=ones --arg b=f32[64]=ones --arg c=f32[64]=zeros --arg rows=4
// EXPECT c: 8 x 32 0 x 32
// RUN: --kernel product --threads 32 --group 32 --arg a=f32[63]=ones --arg b=f32[64]=ones --arg c=f32[64]=zeros --arg rows=8
// ERROR out_of_bounds: kernel 'product' reads outside of argument 'a' (buffer 0)
// ERROR out_of_bounds: tile_bounds.metal:26
// RUN: --kernel product --threads 32 --group 32 --arg a=f32[64]=ones --arg b=f32[64]=ones --arg c=f32[60]=zeros --arg rows=8
// ERROR out_of_bounds: kernel 'product' writes outside of argument 'c' (buffer 2)
// RUN: --kernel product --threads 32 --group 32 --arg a=f32[1]=ones --arg b=f32[64]=ones --arg c=f32[64]=zeros --arg rows=0
// EXPECT c: 0 x 64
kernel void product(device float* a, device float* b, device float* c, constant int& rows) {
  Matrix<float> left(a, dextents<int, 2>(8, rows)), right(b, dextents<int, 2>(8, 8)), result(c, dextents<int, 2>(8, 8));
  constexpr auto descriptor = matmul2d_descriptor(8, 8);
  matmul2d<descriptor, execution_simdgroup> operation;
  operation.run(left, right, result);
}

// RUN: --kernel held --threads 64 --group 64 --arg a=f32[256]=arange --arg c=f32[256]=zeros
// EXPECT c: 0 2 .. 510
// RUN: --kernel held --threads 64 --group 64 --arg a=f32[255]=arange --arg c=f32[256]=zeros
// ERROR out_of_bounds: kernel 'held' reads outside of argument 'a' (buffer 0)
// RUN: --kernel held --threads 64 --group 64 --arg a=f32[256]=arange --arg c=f32[255]=zeros
// ERROR out_of_bounds: kernel 'held' writes outside of argument 'c' (buffer 1)
kernel void held(device float* a, device float* c) {
  Matrix<float> source(a, dextents<int, 2>(16, 16)), result(c, dextents<int, 2>(16, 16));
  constexpr auto descriptor = matmul2d_descriptor(16, 16, 16);
  matmul2d<descriptor, execution_simdgroups<2>> operation;
  auto elements = operation.get_destination_cooperative_tensor<decltype(source), decltype(source), float>();
  elements.load(source);
  for (int i = 0; i < elements.get_capacity(); ++i) elements[i] *= 2;
  elements.store(result);
}

// Each thread has a tile of its own.
// RUN: --kernel threads --threads 5 --group 5 --arg a=f32[20]=arange --arg c=f32[20]=zeros
// EXPECT c: 2 3 6 11 46 55 66 79 154 171 190 211 326 351 378 407 562 595 630 667
// RUN: --kernel threads --threads 5 --group 5 --arg a=f32[20]=arange --arg c=f32[18]=zeros
// ERROR out_of_bounds: kernel 'threads' writes outside of argument 'c' (buffer 1)
// ERROR out_of_bounds: thread (4, 0, 0)
kernel void threads(device float* a, device float* c, uint i [[thread_position_in_grid]]) {
  Matrix<float> own(a + i * 4, dextents<int, 2>(2, 2)), result(c + i * 4, dextents<int, 2>(2, 2));
  constexpr auto descriptor = matmul2d_descriptor(2, 2, 2);
  matmul2d<descriptor, execution_thread> operation;
  operation.run(own, own, result);
}

// Of k that an operand does not have there are zeros, whatever was multiplied before.
// RUN: --kernel short_floats --threads 32 --group 32 --arg a=f32[256]=ones --arg b=f32[256]=ones --arg c=f32[256]=zeros --arg ends={4,16}
// EXPECT c: 4 x 256
// RUN: --kernel short_floats --threads 32 --group 32 --arg a=f32[256]=ones --arg b=f32[256]=ones --arg c=f32[256]=zeros --arg ends={16,4}
// EXPECT c: 4 x 256
// RUN: --kernel short_bytes --threads 32 --group 32 --arg a=i8[256]=ones --arg b=i8[256]=ones --arg c=i32[256]=zeros --arg ends={5,16}
// EXPECT c: 5 x 256
// RUN: --kernel short_bytes --threads 32 --group 32 --arg a=i8[256]=ones --arg b=i8[256]=ones --arg c=i32[256]=zeros --arg ends={16,8}
// EXPECT c: 8 x 256
template <typename T, typename D>
[[kernel]] void short_depth(device T* a, device T* b, device D* c, constant int2& ends) {
  constexpr auto descriptor = matmul2d_descriptor(16, 16, 16);
  matmul2d<descriptor, execution_simdgroup> operation;
  const dextents<int, 2> whole(16, 16);
  Matrix<T> before(a, whole);
  Matrix<D> result(c, whole);
  operation.run(before, before, result);
  simdgroup_barrier(mem_flags::mem_device);
  const array<int, 2> steps = {1, 16};
  Matrix<T> left(b, dextents<int, 2>(ends[0], 16), steps), right(b, dextents<int, 2>(16, ends[1]), steps);
  operation.run(left, right, result);
}
template [[host_name("short_floats")]] kernel decltype(short_depth<float, float>) short_depth<float, float>;
template [[host_name("short_bytes")]] kernel decltype(short_depth<char, int>) short_depth<char, int>;
