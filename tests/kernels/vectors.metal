// Vectors, matrices, swizzles and packed types.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel swizzle --threads 1 --group 1 --arg v=f32[4]=1,2,3,4
// EXPECT v: 4 3 2 20
kernel void swizzle(device float4* v) {
  float4 a = v[0].wzyx;
  a.xw = a.xw * float2(1, 20);
  v[0] = a;
}

// RUN: --kernel construct --threads 1 --group 1 --arg out=f32[8]=zeros
// EXPECT out: 1 2 2 3 5 5 5 9
kernel void construct(device float4* out) {
  float2 b(2, 3);
  out[0] = float4(1, b.xx, b.y);
  out[1] = float4(float3(5), 9);
}

// RUN: --kernel packed --threads 2 --group 2 --arg out=f32[6]=zeros --arg in=f32[6]=1,2,3,4,5,6
// EXPECT out: 2 4 6 8 10 12
kernel void packed(device packed_float3* out, device const packed_float3* in, uint i [[thread_position_in_grid]]) {
  out[i] = packed_float3(float3(in[i]) * 2);
}

// Columns first; a three-component column takes 16 bytes.
// RUN: --kernel multiply --threads 1 --group 1 --arg out=f32[4]=zeros --arg m=f32[3,4]=1,2,3,0,4,5,6,0,7,8,9,0
// EXPECT out: 30 36 42 0
kernel void multiply(device float3* out, device const float3x3* m) {
  out[0] = m[0] * float3(1, 2, 3);
}

// RUN: --kernel compare --threads 1 --group 1 --arg out=i32[4]=zeros --arg a=f32[4]=1,5,3,7 --arg b=f32[4]=4,4,4,4
// EXPECT out: -1 1 -1 1
kernel void compare(device int4* out, device const float4* a, device const float4* b) {
  bool4 less = a[0] < b[0];
  out[0] = select(int4(1), int4(-1), less) * (any(less) && !all(less) ? 1 : 100);
}

// RUN: --kernel narrow --threads 1 --group 1 --arg h=f16[4]=0.1,65504,1e-8,3 --arg out=bf16[2]=zeros
// EXPECT h: 0.199951171875 inf 0 6
// EXPECT out: 0.10009765625 3
kernel void narrow(device half4* h, device bfloat* out) {
  out[0] = bfloat(float(h[0].x));
  out[1] = bfloat(h[0].w);
  h[0] *= 2.0h;
  h[0].z = 0;
}

// Shift counts may be of another integer type.
// RUN: --kernel shifts --threads 1 --group 1 --arg x=i32[10]=zeros
// EXPECT x: 4 -8 1 -2 8 12 32 16 12 40
kernel void shifts(device int* x) {
  const int2 left = int2(2, -4) << uint2(1u);
  int2 right = int2(2, -4) >> ushort2(1);
  x[0] = left.x;
  x[1] = left.y;
  x[2] = right.x;
  x[3] = right.y;
  right = int2(1, 3);
  right <<= uint2(3, 2);
  x[4] = right.x;
  x[5] = right.y;
  constexpr uint2 folded = uint2(1, 2) << int2(5, 3);
  x[6] = folded.x;
  x[7] = folded.y;
  x[8] = (int3(3) << 2).x;
  x[9] = (short4(5) << uchar4(3)).w;
}

// Both elements are the same, so that the optimiser keeps one and leaves the other undefined.
// RUN: --kernel one_element_counts --threads 32 --group 32 --arg out=i32[32]=zeros --arg in=i32[32]=arange
// ENGINE: simd
// EXPECT out: 0 2097248 .. 65014688
kernel void one_element_counts(device int* out, device const int* in, uint i [[thread_position_in_grid]]) {
  const long2 product = long2(in[i]) * 65539l;
  const int first = int(product.x) ^ int(product.x >> 32), second = int(product.y) ^ int(product.y >> 32);
  out[i] = first * 31 + second;
}
