// Types, conversions, constructors, swizzles, traits and limits, checked by the compiler; one run shows that the
// file was compiled.
#include <metal_stdlib>
using namespace metal;

// Sizes and alignments (MSL spec §2.1 to §2.3).
template <typename T, size_t size, size_t alignment = size>
constexpr constant bool laid_out = sizeof(T) == size && alignof(T) == alignment;
static_assert(laid_out<bool, 1> && laid_out<bool2, 2> && laid_out<bool3, 4> && laid_out<bool4, 4>, "");
static_assert(laid_out<char, 1> && laid_out<uchar2, 2> && laid_out<char3, 4> && laid_out<uchar4, 4>, "");
static_assert(laid_out<short, 2> && laid_out<ushort2, 4> && laid_out<short3, 8> && laid_out<ushort4, 8>, "");
static_assert(laid_out<int, 4> && laid_out<uint2, 8> && laid_out<int3, 16> && laid_out<uint4, 16>, "");
static_assert(laid_out<long, 8> && laid_out<ulong2, 16> && laid_out<long3, 32> && laid_out<ulong4, 32>, "");
static_assert(laid_out<half, 2> && laid_out<half2, 4> && laid_out<half3, 8> && laid_out<half4, 8>, "");
static_assert(laid_out<bfloat, 2> && laid_out<bfloat2, 4> && laid_out<bfloat3, 8> && laid_out<bfloat4, 8>, "");
static_assert(laid_out<float, 4> && laid_out<float2, 8> && laid_out<float3, 16> && laid_out<float4, 16>, "");
static_assert(laid_out<size_t, 8> && laid_out<ptrdiff_t, 8>, "");
static_assert(laid_out<packed_float3, 12, 4> && laid_out<packed_char3, 3, 1> && laid_out<packed_half2, 4, 2>, "");
static_assert(laid_out<packed_bfloat4, 8, 2> && laid_out<packed_long2, 16, 8> && laid_out<packed_uint4, 16, 4>, "");
static_assert(laid_out<float2x2, 16, 8> && laid_out<float3x3, 48, 16> && laid_out<float4x3, 64, 16>, "");
static_assert(laid_out<half2x3, 16, 8> && laid_out<half4x4, 32, 8> && laid_out<bfloat4x4, 32, 8>, "");
static_assert(laid_out<atomic_int, 4> && laid_out<atomic_float, 4> && laid_out<atomic_ulong, 8>, "");
static_assert(is_same_v<vec<float, 4>, float4> && is_same_v<metal::float4, ::float4>, "");
static_assert(is_same_v<packed_vec<int, 3>, packed_int3> && is_same_v<matrix<half, 2, 4>, half2x4>, "");

// Literals and arithmetic: floats stay floats, halfs stay halfs, also inside templates.
static_assert(is_same_v<decltype(1.0), float> && is_same_v<decltype(1.0h), half>, "");
static_assert(is_same_v<decltype(1.5bf), bfloat> && is_same_v<decltype(1.0h + 1.0h), half>, "");
static_assert(is_same_v<decltype(1.0h * 2), half> && is_same_v<decltype(1.0h * 2.0f), float>, "");
template <typename T>
constexpr auto halved(T x) {
  return x * 0.5;
}
static_assert(is_same_v<decltype(halved(1.0f)), float>, "");
static_assert(is_same_v<decltype(short(1) + short(1)), int>, "");
static_assert(is_same_v<decltype(short2(1) + short2(1)), short2>, "");

// Conversions (§2.1, §2.17).
static_assert(is_convertible_v<int, float> && is_convertible_v<float, half> && is_convertible_v<half, float>, "");
static_assert(is_convertible_v<bfloat, float> && !is_convertible_v<float, bfloat> && !is_convertible_v<half, bfloat>, "");
static_assert(is_convertible_v<int, bfloat> && is_constructible_v<bfloat, float>, "");
static_assert(is_same_v<decltype(bfloat(1) + bfloat(1)), bfloat> && is_same_v<decltype(bfloat(1) * 2), bfloat>, "");
static_assert(is_same_v<decltype(bfloat(1) + 1.0f), float> && is_same_v<decltype(2.0f - bfloat(1)), float>, "");
static_assert(is_convertible_v<float, float4> && is_convertible_v<int, half2> && is_convertible_v<bfloat, float3>, "");
static_assert(!is_convertible_v<float4, int4> && !is_convertible_v<float4, float> && !is_convertible_v<float2, float4>, "");
static_assert(is_constructible_v<int4, float4> && is_constructible_v<half4, packed_uchar4>, "");
static_assert(is_convertible_v<packed_float3, float3> && is_convertible_v<float3, packed_float3>, "");
static_assert(!is_convertible_v<float, float4x4> && is_constructible_v<float4x4, float>, "");
static_assert(!is_constructible_v<float4, float4, float>, "");
static_assert(is_constructible_v<float2, float3> && !is_convertible_v<float3, float2>, "");

// bfloat rounds to nearest even and keeps NaN and infinity.
static_assert(float(bfloat(1.00390625f)) == 1.0f && float(bfloat(1.01171875f)) == 1.015625f, "");
static_assert(float(bfloat(3.4e38f)) == INFINITY && as_type<ushort>(bfloat(-2.0f)) == 0xc000, "");
static_assert((as_type<ushort>(bfloat(NAN)) & 0x7fff) > 0x7f80, "");
static_assert(bfloat(0.1f) < 0.2f && bfloat(3) == 3 && 2 > bfloat(1), "");

// Constructors and swizzles, in constant expressions.
constexpr constant float4 v = float4(1, 2, 3, 4);
static_assert(v.x == 1 && v.wzyx.y == 3 && v.xx.y == 1 && v.bgr.x == 3 && v[2] == 3, "");
static_assert(all(v == float4(float2(1, 2), float2(3, 4))) && all(v == float4(1, float3(2, 3, 4))), "");
static_assert(all(v == float4(float3(1, 2, 3), 4)) && all(v == float4(1, float2(2, 3), 4)), "");
static_assert(all(v == float4(packed_float3(1, 2, 3), 4)) && all(v == float4(1, half2(2, 3), 4)), "");
static_assert(all(int4(float4(2.9f)) == 2) && all(int3(float3(1.5, -1.5, 0)) == int3(1, -1, 0)), "");
static_assert(all(v * 2 == v + v) && all(-v == 0 - v) && any(v > 3) && !all(v > 3), "");
static_assert(all((v < float4(2)) == bool4(true, false, false, false)), "");
static_assert(all(!bool2(true, false) == bool2(false, true)) && all((bool2(1, 0) || bool2(0, 1))), "");
static_assert(all((uint2(6, 5) & 4u) == 4u) && all((int2(1, 2) << int2(3)) == int2(8, 16)), "");
static_assert(all(bfloat2(1, 2) + bfloat2(1) == bfloat2(2, 3)), "");
static_assert(float2x2(1, 2, 3, 4)[1].x == 3 && float3x3(2)[1].y == 2 && float3x3(2)[1].x == 0, "");
static_assert(all(float2x2(1, 2, 3, 4) * float2(1, 1) == float2(4, 6)), "");
static_assert(all(float2(1, 1) * float2x2(1, 2, 3, 4) == float2(3, 7)), "");
static_assert(transpose(float2x3(float3(1, 2, 3), float3(4, 5, 6)))[2].y == 6, "");
static_assert(determinant(float2x2(1, 2, 3, 4)) == -2 && determinant(float3x3(2)) == 8, "");
static_assert(all(half2x2(float2x2(1, 2, 3, 4))[1] == half2(3, 4)), "");
static_assert((float2x2(1, 2, 3, 4) * float2x2(1, 0, 0, 1)) == float2x2(1, 2, 3, 4), "");

// Functions that fold.
static_assert(max(1, 2) == 2 && min(1u, 2) == 1 && clamp(5, 0, 3) == 3 && abs(-3) == 3 && popcount(7u) == 3, "");
static_assert(clz(1u) == 31 && ctz(uchar(8)) == 3 && clz(ushort(0)) == 16 && mulhi(0x80000000u, 4u) == 2, "");
static_assert(is_same_v<decltype(max(1.0h, 2.0f)), float> && is_same_v<decltype(fmax(0, 1.0h)), half>, "");
static_assert(is_same_v<decltype(clamp(1.0h, 0.0f, 1.0f)), float> && is_same_v<decltype(pow(1.0f, 2.0h)), float>, "");
static_assert(is_same_v<decltype(max(float4(1), 0)), float4> && is_same_v<decltype(exp(bfloat(1))), float>, "");
static_assert(is_same_v<decltype(precise::exp(1.0h)), float> && is_same_v<decltype(exp(1.0h)), half>, "");
static_assert(!isnan(1.0f) && isinf(-INFINITY) && signbit(-0.0f) && all(isnan(float2(NAN))), "");
static_assert(select(1, 2, true) == 2 && sign(-2.0f) == -1 && step(1.0f, 2.0f) == 1 && saturate(2.0h) == 1, "");
static_assert(dot(float3(1, 2, 3), float3(1)) == 6 && length_squared(float2(3, 4)) == 25, "");
static_assert(all(cross(float3(1, 0, 0), float3(0, 1, 0)) == float3(0, 0, 1)), "");
static_assert(as_type<uint>(1.0f) == 0x3f800000u && as_type<half>(ushort(0x3c00)) == 1.0h, "");

// Traits and limits.
static_assert(is_same_v<remove_addrspace_t<device float>, float> && is_same_v<remove_addrspace_t<float>, float>, "");
static_assert(is_same_v<remove_addrspace_t<const constant int>, const int>, "");
static_assert(is_floating_point_v<half> && is_floating_point_v<bfloat> && !is_floating_point_v<int>, "");
static_assert(is_integral_v<ulong> && is_signed_v<bfloat> && is_arithmetic_v<bool> && is_arithmetic_v<float2>, "");
static_assert(is_same_v<make_unsigned_t<short>, ushort> && is_same_v<conditional_t<true, int, float>, int>, "");
static_assert(is_same_v<enable_if_t<true, int>, int> && integral_constant<int, 3>::value == 3, "");
static_assert(make_index_sequence<3>::size() == 3 && extent_v<int[4]> == 4 && vec_elements<float3>::value == 3, "");
static_assert(numeric_limits<int>::min() == INT_MIN && numeric_limits<uchar>::max() == 255, "");
static_assert(numeric_limits<ulong>::max() == ULONG_MAX && numeric_limits<char>::lowest() == -128, "");
static_assert(numeric_limits<half>::max() == 65504.0h && numeric_limits<half>::epsilon() == 0x1p-10h, "");
static_assert(numeric_limits<float>::infinity() == INFINITY && numeric_limits<float>::lowest() == -FLT_MAX, "");
static_assert(numeric_limits<bfloat>::digits == 8 && numeric_limits<bfloat>::max() > 3.3e38f, "");
static_assert(M_PI_F > 3.14f && M_PI_H > 3.1h && MAXHALF == 65504.0h && isinf(HUGE_VALF), "");
static_assert(make_uniform(2) * 3 == 6, "");
constexpr constant array<int, 3> numbers = {1, 2, 3};
static_assert(numbers[1] == 2 && numbers.size() == 3, "");

// An incomplete list fills up with zeros.
// RUN: --kernel compiled --threads 1 --group 1 --arg out=u32[4]=zeros
// EXPECT out: 1 2 3 0
kernel void compiled(device uint4* out) {
  uint x = 1;
  uint4 list = {x, x + 1, x + 2};
  out[0] = list;
}

// Uniform numbers beside a class that numbers convert to, with operators of its own.
struct Pair {
  float a, b;
  template <typename T, typename = enable_if_t<is_convertible_v<T, float>>>
  constexpr Pair(T x) : a(x), b(0) {}
};
constexpr Pair operator/(Pair x, Pair y) { return Pair(x.a / y.a); }
constexpr Pair operator-(Pair x, Pair y) { return Pair(x.a - y.a); }
constexpr bool operator<(Pair x, Pair y) { return x.a < y.a; }

// RUN: --kernel uniforms --threads 1 --group 1 --arg size=i32:70 --arg out=i32[5]=zeros
// EXPECT out: 4 64 6 1 35
kernel void uniforms(constant int& size, device int* out) {
  constexpr const uniform<int> step = make_uniform(16);
  const uniform<int> all = make_uniform(size);
  const uniform<int> steps = all / step;
  const uniform<int> covered = step * steps;
  const uniform<int> rest = all - covered;
  out[0] = steps;
  out[1] = covered;
  out[2] = rest;
  out[3] = rest < step && steps == make_uniform(4u) && !(all <= covered);
  out[4] = all / 2;
}
