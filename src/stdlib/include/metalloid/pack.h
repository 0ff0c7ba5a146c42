// Conversions between normalised integers packed into one word and vectors (MSL spec §6.14).
#ifndef METALLOID_PACK_H
#define METALLOID_PACK_H

#include <metalloid/common.h>
#include <metalloid/relational.h>

namespace __metalloid {

// `bits` bits of `word` from bit `offset` on, as a number in [0, 1] or [-1, 1].
METALLOID_FUNC constexpr float unpack_unorm(uint word, uint offset, uint bits) {
  const uint mask = (1u << bits) - 1u;
  return float((word >> offset) & mask) / float(mask);
}
METALLOID_FUNC constexpr float unpack_snorm(uint word, uint offset, uint bits) {
  const int value = int(word << (32u - offset - bits)) >> (32u - bits);
  return metal::max(float(value) / float((1 << (bits - 1)) - 1), -1.0f);
}
METALLOID_FUNC uint pack_unorm(float x, uint offset, uint bits) {
  const uint mask = (1u << bits) - 1u;
  return uint(metal::rint(metal::saturate(x) * float(mask))) << offset;
}
METALLOID_FUNC uint pack_snorm(float x, uint offset, uint bits) {
  const int largest = (1 << (bits - 1)) - 1;
  const int value = int(metal::rint(metal::clamp(x, -1.0f, 1.0f) * float(largest)));
  return (uint(value) & ((1u << bits) - 1u)) << offset;
}
METALLOID_FUNC float from_srgb(float x) { return x <= 0.04045f ? x / 12.92f : metal::pow((x + 0.055f) / 1.055f, 2.4f); }
METALLOID_FUNC float to_srgb(float x) {
  const float bounded = metal::saturate(metal::isnan(x) ? 0.0f : x);
  return bounded <= 0.0031308f ? bounded * 12.92f : 1.055f * metal::pow(bounded, 1.0f / 2.4f) - 0.055f;
}

}  // namespace __metalloid

namespace metal {

#define METALLOID_UNPACK(name, T, N, Word, ...)                                                           \
  METALLOID_FUNC vec<float, N> unpack_##name##_to_float(Word word) { return vec<float, N>(__VA_ARGS__); } \
  METALLOID_FUNC vec<half, N> unpack_##name##_to_half(Word word) {                                        \
    return vec<half, N>(unpack_##name##_to_float(word));                                                  \
  }
#define METALLOID_PACK(name, T, N, Word, ...)                                             \
  METALLOID_FUNC Word pack_float_to_##name(vec<float, N> v) { return Word(__VA_ARGS__); } \
  METALLOID_FUNC Word pack_half_to_##name(vec<half, N> v) { return pack_float_to_##name(vec<float, N>(v)); }
#define METALLOID_U(offset, bits) __metalloid::unpack_unorm(word, offset, bits)
#define METALLOID_S(offset, bits) __metalloid::unpack_snorm(word, offset, bits)
METALLOID_UNPACK(unorm4x8, T, 4, uint, METALLOID_U(0, 8), METALLOID_U(8, 8), METALLOID_U(16, 8), METALLOID_U(24, 8))
METALLOID_UNPACK(snorm4x8, T, 4, uint, METALLOID_S(0, 8), METALLOID_S(8, 8), METALLOID_S(16, 8), METALLOID_S(24, 8))
METALLOID_UNPACK(unorm4x8_srgb, T, 4, uint, __metalloid::from_srgb(METALLOID_U(0, 8)),
                 __metalloid::from_srgb(METALLOID_U(8, 8)), __metalloid::from_srgb(METALLOID_U(16, 8)),
                 METALLOID_U(24, 8))
METALLOID_UNPACK(unorm2x16, T, 2, uint, METALLOID_U(0, 16), METALLOID_U(16, 16))
METALLOID_UNPACK(snorm2x16, T, 2, uint, METALLOID_S(0, 16), METALLOID_S(16, 16))
METALLOID_UNPACK(unorm10a2, T, 4, uint, METALLOID_U(0, 10), METALLOID_U(10, 10), METALLOID_U(20, 10),
                 METALLOID_U(30, 2))
METALLOID_UNPACK(snorm10a2, T, 4, uint, METALLOID_S(0, 10), METALLOID_S(10, 10), METALLOID_S(20, 10),
                 METALLOID_S(30, 2))
METALLOID_UNPACK(unorm565, T, 3, ushort, METALLOID_U(11, 5), METALLOID_U(5, 6), METALLOID_U(0, 5))
#undef METALLOID_U
#undef METALLOID_S

#define METALLOID_U(c, offset, bits) __metalloid::pack_unorm(v.c, offset, bits)
#define METALLOID_S(c, offset, bits) __metalloid::pack_snorm(v.c, offset, bits)
METALLOID_PACK(unorm4x8, T, 4, uint,
               METALLOID_U(x, 0, 8) | METALLOID_U(y, 8, 8) | METALLOID_U(z, 16, 8) | METALLOID_U(w, 24, 8))
METALLOID_PACK(snorm4x8, T, 4, uint,
               METALLOID_S(x, 0, 8) | METALLOID_S(y, 8, 8) | METALLOID_S(z, 16, 8) | METALLOID_S(w, 24, 8))
METALLOID_PACK(srgb_unorm4x8, T, 4, uint,
               __metalloid::pack_unorm(__metalloid::to_srgb(v.x), 0, 8) |
                   __metalloid::pack_unorm(__metalloid::to_srgb(v.y), 8, 8) |
                   __metalloid::pack_unorm(__metalloid::to_srgb(v.z), 16, 8) | METALLOID_U(w, 24, 8))
METALLOID_PACK(unorm2x16, T, 2, uint, METALLOID_U(x, 0, 16) | METALLOID_U(y, 16, 16))
METALLOID_PACK(snorm2x16, T, 2, uint, METALLOID_S(x, 0, 16) | METALLOID_S(y, 16, 16))
METALLOID_PACK(unorm10a2, T, 4, uint,
               METALLOID_U(x, 0, 10) | METALLOID_U(y, 10, 10) | METALLOID_U(z, 20, 10) | METALLOID_U(w, 30, 2))
METALLOID_PACK(snorm10a2, T, 4, uint,
               METALLOID_S(x, 0, 10) | METALLOID_S(y, 10, 10) | METALLOID_S(z, 20, 10) | METALLOID_S(w, 30, 2))
METALLOID_PACK(unorm565, T, 3, ushort, METALLOID_U(x, 11, 5) | METALLOID_U(y, 5, 6) | METALLOID_U(z, 0, 5))
#undef METALLOID_U
#undef METALLOID_S
#undef METALLOID_PACK
#undef METALLOID_UNPACK

// The names with `srgb` at the other end.
METALLOID_FUNC uint pack_float_to_unorm4x8_srgb(float4 v) { return pack_float_to_srgb_unorm4x8(v); }
METALLOID_FUNC uint pack_half_to_unorm4x8_srgb(half4 v) { return pack_half_to_srgb_unorm4x8(v); }

}  // namespace metal

#endif
