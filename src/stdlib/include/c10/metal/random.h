// Philox4x32 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) as torch's Metal kernels use it:
// a pure function of seed and index, so that every thread draws its own numbers.
#ifndef METALLOID_C10_METAL_RANDOM_H
#define METALLOID_C10_METAL_RANDOM_H

#include <metal_stdlib>

namespace c10 {
namespace metal {
namespace detail {

// 31 bits to [0, 1].
METALLOID_FUNC constexpr float uint32_to_uniform_float(uint value) {
  return float(value & 0x7FFFFFFFu) * 4.6566127342e-10f;
}

// High word, low word.
METALLOID_FUNC uint2 splitlong(ulong value) { return uint2(uint(value >> 32), uint(value)); }

}  // namespace detail

namespace philox4 {

// High and low word of the product.
METALLOID_FUNC uint2 mulhilo(uint a, uint b) { return detail::splitlong(ulong(a) * b); }

METALLOID_FUNC uint4 single_round(uint4 counter, uint2 key) {
  const uint2 first = mulhilo(0xD2511F53u, counter.x);
  const uint2 second = mulhilo(0xCD9E8D57u, counter.z);
  return uint4(second.x ^ counter.y ^ key.x, second.y, first.x ^ counter.w ^ key.y, first.y);
}

// The key grows by Weyl's sequence. `rounds` counts as torch counts: one fewer is done.
inline uint4 multiple_rounds(uint4 counter, uint2 key, uint rounds) {
  for (uint round = 1; round < rounds; ++round) {
    counter = single_round(counter, key);
    key += uint2(0x9E3779B9u, 0xBB67AE85u);
  }
  return counter;
}

METALLOID_FUNC uint4 rand(long seed, long index) {
  return multiple_rounds(uint4(0u, 0u, detail::splitlong(ulong(index))), detail::splitlong(ulong(seed)), 10u);
}

}  // namespace philox4

// Uniform in [0, 1].
METALLOID_FUNC float rand(long seed, long index) {
  return detail::uint32_to_uniform_float(philox4::rand(seed, index).x);
}

// Normal, by Box and Muller.
METALLOID_FUNC float randn(long seed, long index) {
  const uint4 random = philox4::rand(seed, index);
  const float radius_draw = 1.0f - detail::uint32_to_uniform_float(random.x);  // not 0
  const float angle_draw = detail::uint32_to_uniform_float(random.y);
  return ::metal::precise::sqrt(-2.0f * ::metal::precise::log(radius_draw)) *
         ::metal::precise::cos(2.0f * M_PI_F * angle_draw);
}

// Two normal numbers from two words.
METALLOID_FUNC float2 box_muller_from_philox(uint2 raw) {
  const float radius_draw = ::metal::max(detail::uint32_to_uniform_float(raw.x), FLT_EPSILON);
  const float angle = 2.0f * M_PI_F * detail::uint32_to_uniform_float(raw.y);
  const float radius = ::metal::precise::sqrt(-2.0f * ::metal::precise::log(radius_draw));
  return radius * float2(::metal::precise::cos(angle), ::metal::precise::sin(angle));
}

// Uniform in [low, high), as fine as 31 bits are.
METALLOID_FUNC long randint64(long seed, long index, long low, long high) {
  const float draw = detail::uint32_to_uniform_float(philox4::rand(seed, index).x);
  return low + long(draw * float(high - low));
}

// Uniform numbers one after the other.
struct RandSampler {
  long seed;
  long index;

  METALLOID_FUNC RandSampler(long seed_, long index_) : seed(seed_), index(index_) {}
  METALLOID_FUNC float operator()() { return rand(seed, index++); }
};

}  // namespace metal
}  // namespace c10

#endif
