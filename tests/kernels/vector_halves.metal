// The halves of vectors: `lo`, `hi`, `even`, `odd`, read and written, alone and in compound assignments, of vectors in
// every kind of memory. A vector of three counts as one of four that lacks its last component.
#include <metal_stdlib>
using namespace metal;

// RUN: --kernel read --threads 1 --group 1 --arg v=f32[4]=1,2,3,4 --arg out=f32[8]=zeros
// EXPECT out: 1 2 3 4 1 3 2 4
kernel void read(device const float4* v, device float2* out) {
  const float4 a = v[0];
  out[0] = a.lo;
  out[1] = v[0].hi;
  out[2] = a.even;
  out[3] = v->odd;
}

// RUN: --kernel read_pair --threads 1 --group 1 --arg v=i32[2]=5,7 --arg out=i32[4]=zeros
// EXPECT out: 5 7 5 7
kernel void read_pair(constant int2& v, device int* out) {
  out[0] = v.lo;
  out[1] = v.hi;
  out[2] = v.even;
  out[3] = v.odd;
}

// RUN: --kernel read_three --threads 1 --group 1 --arg v=u16[4]=5,7,9,0 --arg out=u16[6]=zeros
// EXPECT out: 5 7 9 5 9 7
kernel void read_three(device const ushort3* v, device ushort* out) {
  const ushort3 a = v[0];
  out[0] = a.lo.x;
  out[1] = a.lo.y;
  out[2] = a.hi.x;
  out[3] = a.even.x;
  out[4] = a.even.y;
  out[5] = a.odd.x;
}

// RUN: --kernel fold_float --threads 1 --group 1 --arg v=f32[4]=1,2,3,4 --arg out=f32[1]=zeros
// EXPECT out: 10
// EXPECT v: 3 2 7 4
kernel void fold_float(device float4* v, device float* out) {
  v[0].even += v[0].odd;
  float4 a = v[0];
  a.lo += float2(a.even.y, 0);
  out[0] = a.x;
}

// RUN: --kernel fold_half --threads 1 --group 1 --arg v=f16[4]=1,2,3,4
// EXPECT v: -2 -8 3 8
kernel void fold_half(device half4* v) {
  half4 a = v[0];
  a.lo -= a.hi;
  a.odd *= 4;
  a.hi /= half2(1, 2);
  v[0] = a;
}

// RUN: --kernel fold_bfloat --threads 1 --group 1 --arg v=bf16[2]=1.5,2
// EXPECT v: 3.5 1
kernel void fold_bfloat(device packed_bfloat2* v) {
  bfloat2 a = v[0];
  a.lo += a.hi;
  a.odd *= 0.5bf;
  v[0] = a;
}

// RUN: --kernel fold_int --threads 1 --group 1 --arg v=i32[4]=12,10,6,3
// EXPECT v: 128 8 32 12
kernel void fold_int(device int4* v) {
  threadgroup int4 t;
  t = v[0];
  t.even &= t.odd;   // 8 10 2 3
  t.lo <<= t.hi;     // 32 80 2 3
  t.hi |= 12;        // 32 80 14 15
  t.odd ^= t.odd;    // 32 0 14 0
  t.even <<= 2;      // 128 0 56 0
  t.hi = int2(4, 3) * 8 - int2(0, 12);  // 128 0 32 12
  t.odd %= 5;        // 128 0 32 2
  t.odd += int2(8, 10);
  v[0] = t;
}

// RUN: --kernel fold_three --threads 1 --group 1 --arg v=f32[3]=1,2,3
// EXPECT v: 4 12 30
kernel void fold_three(device packed_float3* v) {
  float3 a = v[0];
  a.even += float2(a.hi.x, 0);  // 4 2 3
  a.hi *= 10;                   // 4 2 30
  a.odd += 10;                  // 4 12 30
  v[0] = a;
}

// RUN: --kernel of_swizzles --threads 1 --group 1 --arg v=f32[4]=1,2,3,4 --arg out=f32[4]=zeros
// EXPECT out: 4 3 4 2
kernel void of_swizzles(device float4* v, device float4* out) {
  out[0] = float4(v[0].wzyx.lo, v[0].wzyx.even);
}

// RUN: --kernel of_elements --threads 2 --group 2 --arg v=f32[8]=1,2,3,4,5,6,7,8
// EXPECT v: 1 12 3 14 5 26 7 28
struct Holder {
  float4 values[2];
};
kernel void of_elements(device Holder& v, uint i [[thread_position_in_grid]]) {
  v.values[i].odd += 10 * (i + 1);
}

// RUN: --kernel of_a_swizzle --threads 1 --group 1 --arg v=f32[4]=1,2,3,4 --arg out=f32[6]=zeros
// EXPECT out: 4 3 3 1 2 4
kernel void of_a_swizzle(device float4* v, device float2* out) {
  out[0] = v->wzyx.lo;
  out[1] = v->zwxy.even;
  out[2] = v[0].xyzw.odd;
}
