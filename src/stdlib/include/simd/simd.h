// Headers shared with host code include this for vector types; here <metal_stdlib> has them.
#ifndef METALLOID_SIMD_SIMD_H
#define METALLOID_SIMD_SIMD_H

#include <metal_stdlib>

#define METALLOID_SIMD_NAME(T) \
  namespace simd {             \
  using ::T##2;                \
  using ::T##3;                \
  using ::T##4;                \
  }                            \
  typedef T##2 simd_##T##2;    \
  typedef T##3 simd_##T##3;    \
  typedef T##4 simd_##T##4;    \
  typedef T##2 vector_##T##2;  \
  typedef T##3 vector_##T##3;  \
  typedef T##4 vector_##T##4;
METALLOID_SIMD_NAME(char)
METALLOID_SIMD_NAME(uchar)
METALLOID_SIMD_NAME(short)
METALLOID_SIMD_NAME(ushort)
METALLOID_SIMD_NAME(int)
METALLOID_SIMD_NAME(uint)
METALLOID_SIMD_NAME(long)
METALLOID_SIMD_NAME(ulong)
METALLOID_SIMD_NAME(half)
METALLOID_SIMD_NAME(float)
#undef METALLOID_SIMD_NAME

namespace simd {
using ::float2x2;
using ::float2x3;
using ::float2x4;
using ::float3x2;
using ::float3x3;
using ::float3x4;
using ::float4x2;
using ::float4x3;
using ::float4x4;
}  // namespace simd
typedef float2x2 simd_float2x2;
typedef float3x3 simd_float3x3;
typedef float3x4 simd_float3x4;
typedef float4x3 simd_float4x3;
typedef float4x4 simd_float4x4;
typedef float2x2 matrix_float2x2;
typedef float3x3 matrix_float3x3;
typedef float4x4 matrix_float4x4;

#endif
