// What public generators of MSL write and Metal takes.
#include <metal_stdlib>
using namespace metal;

// naga: reads outside of an array give zero, of whatever type the other side has.
struct DefaultConstructible {
  template <typename T>
  operator T() && {
    return T{};
  }
};
struct Pair {
  float a;
  uint b;
};
template <typename T>
T read(device const T* values, uint i, uint count) {
  return i < count ? values[i] : DefaultConstructible();
}
struct Column {
  float4 inner[2];
};

// RUN: --kernel default_constructible --threads 1 --group 1 --arg x=f32[16]=zeros --arg v=f32[16]=ones
// EXPECT x: 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0
kernel void default_constructible(device float* x, device float* v) {
  device const float4* vectors = (device const float4*)v;
  device const float4x4* matrices = (device const float4x4*)v;
  device const Pair* pairs = (device const Pair*)v;
  device const half4* halves = (device const half4*)v;
  device const bfloat* brains = (device const bfloat*)v;
  device const Column* columns = (device const Column*)v;
  device const packed_float3* packed = (device const packed_float3*)v;
  x[0] = read(vectors, 3, 4).w;
  x[1] = read(vectors, 4, 4).w;
  x[2] = read(matrices, 0, 1)[3].x;
  x[3] = read(matrices, 1, 1)[3].x;
  x[4] = read(pairs, 1, 2).a;
  x[5] = read(pairs, 2, 2).a + read(pairs, 2, 2).b;
  x[6] = float(read(halves, 7, 8).y) == 1.875f;
  x[7] = read(halves, 8, 8).y;
  x[8] = float(read(brains, 1, 4)) == 1.0f;
  x[9] = float(read(brains, 4, 4));
  x[10] = read(columns, 0, 1).inner[1].x;
  x[11] = read(columns, 1, 1).inner[1].x;
  x[12] = float3(read(packed, 1, 2)).z;
  x[13] = float3(read(packed, 2, 2)).z;
  float4 fixed = x[0] > 0 ? vectors[0] : DefaultConstructible();
  x[14] = fixed.x;
  float2 other = DefaultConstructible();
  x[15] = other.x;
}

// RUN: --kernel shorter_vectors --threads 1 --group 1 --arg x=f32[8]=zeros --arg v=f32[4]=1,2,3,4
// EXPECT x: 1 2 3 1 2 2 3 2
kernel void shorter_vectors(device float* x, device float4* v) {
  const float3 three = float3(v[0]);
  const float2 two = float2(half4(v[0]));
  const uint3 whole = uint3(v[0]);
  const packed_float4 packed = packed_float4(v[0]);
  x[0] = three.x;
  x[1] = three.y;
  x[2] = three.z;
  x[3] = two.x;
  x[4] = two.y;
  x[5] = whole.y;
  x[6] = float3(packed).z;
  x[7] = half2(three).y;
}

// make_scalar_t, and a type of one's own among its types.
template <typename T>
struct indexed {
  T value;
};
template <typename T>
struct _make_scalar_impl<indexed<T>> {
  typedef indexed<make_scalar_t<T>> type;
};
static_assert(is_same_v<make_scalar_t<float4>, float> && is_same_v<make_scalar_t<half>, half> &&
                  is_same_v<make_scalar<uint2>::type, uint> && is_same_v<make_scalar_t<bfloat3>, bfloat> &&
                  is_same_v<make_scalar_t<packed_int3>, int> &&
                  is_same_v<make_scalar_t<indexed<float4>>, indexed<float>>,
              "");

// Zeros as the initialiser of threadgroup memory, however they are written.
// RUN: --kernel threadgroup_zeros --threads 4 --group 4 --arg x=f32[4]=ones
// EXPECT x: 0 0 0 0
// RUN: --kernel threadgroup_zeros --threads 4 --group 4 --arg x=f32[4]=ones
// EXPECT x: 0 0 0 0
template <typename T>
void add_one(threadgroup T* values, uint i) {
  values[i] += 1;
}
kernel void threadgroup_zeros(device float* x, uint i [[thread_position_in_grid]]) {
  threadgroup float a[4] = {(float)0.f};
  threadgroup float4 b[4] = {float4(0)};
  threadgroup int c = int(0);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = a[i] + b[i].w + c;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  add_one(a, i);
}

// Threadgroup memory that a kernel does not use needs no length.
// RUN: --kernel unused_memory --threads 2 --group 2 --arg x=f32[2]=zeros
// EXPECT x: 1 1
kernel void unused_memory(device float* x, threadgroup float* scratch [[threadgroup(0)]],
                          uint i [[thread_position_in_grid]]) {
  x[i] = 1;
}
// RUN: --kernel used_memory --threads 2 --group 2 --arg x=f32[2]=zeros
// ERROR invalid_argument: missing threadgroup memory length at index 0 for argument 'scratch'
kernel void used_memory(device float* x, threadgroup float* scratch [[threadgroup(0)]],
                        uint i [[thread_position_in_grid]]) {
  scratch[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  x[i] = scratch[1 - i];
}

// Attention of early 2025: rows of results, divided by their sums.
// RUN: --kernel matrices_over_numbers --threads 1 --group 1 --arg m=f32[16]=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 --arg h=f16[4]=1,2,3,4 --arg x=f32[6]=zeros
// EXPECT x: 0.25 4 0.5 2 1.5 0.5
kernel void matrices_over_numbers(device const float4x4* m, device const half2x2* h, device float* x) {
  const float sum = 4;
  const float4x4 rows = (float4x4)m[0] / sum;
  half2x2 halves = h[0] / 2;
  halves /= half(1);
  float2x2 floats = float2x2(halves);
  x[0] = rows[0][0];
  x[1] = rows[3][3];
  x[2] = halves[0][0];
  x[3] = halves[1][1];
  x[4] = floats[1][0];
  floats /= 3;
  x[5] = floats[1][0];
}

// MLX's fences name a scope that the specification does not have, and define it where the compiler does not.
#ifndef __METAL_MEMORY_SCOPE_SYSTEM__
#define __METAL_MEMORY_SCOPE_SYSTEM__ 3
namespace metal {
constexpr constant metal::thread_scope thread_scope_system = static_cast<thread_scope>(__METAL_MEMORY_SCOPE_SYSTEM__);
}
#endif

// RUN: --kernel fence_of_the_system --threads 2 --group 2 --arg x=u32[2]=3,4
// EXPECT x: 4 5
kernel void fence_of_the_system(volatile coherent(system) device uint* x, uint i [[thread_position_in_grid]]) {
  x[i] = x[i] + 1;
  metal::atomic_thread_fence(metal::mem_flags::mem_device, metal::memory_order_seq_cst, metal::thread_scope_system);
}
