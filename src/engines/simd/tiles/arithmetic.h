// Vectors of the processor that a file of products is compiled for, and the steps of sums of products.
//
// Operands come in words of 32 bits: a float, an int, or several narrower elements that follow each other along k.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace metalloid::engines::simd {
namespace {

#if defined(__AVX512F__)
constexpr int width = 16, most_rows = 14;  // words of a vector; rows whose sums fit into registers, two vectors each
#elif defined(__AVX2__)
constexpr int width = 8, most_rows = 6;
#else
constexpr int width = 4, most_rows = 4;
#endif

using Floats = float __attribute__((vector_size(4 * width)));
using Ints = std::int32_t __attribute__((vector_size(4 * width)));
using Words = std::uint32_t __attribute__((vector_size(4 * width)));
using LooseWords __attribute__((aligned(4), may_alias)) = Words;

[[gnu::always_inline]] inline Words load(const std::uint32_t* from) {
  return *reinterpret_cast<const LooseWords*>(from);
}
[[gnu::always_inline]] inline void store(std::uint32_t* to, Words words) { *reinterpret_cast<LooseWords*>(to) = words; }

[[gnu::always_inline]] inline Words all(std::uint32_t word) {
#if defined(__AVX512F__)
  return reinterpret_cast<Words>(_mm512_set1_epi32(static_cast<int>(word)));
#elif defined(__AVX2__)
  return reinterpret_cast<Words>(_mm256_set1_epi32(static_cast<int>(word)));
#else
  return Words{word, word, word, word};
#endif
}

// Sums in float, each a chain of fused multiply-adds.
struct FloatSteps {
  using Sum = float;
  using Element = float;
  static constexpr int elements = 1;  // of a word
  [[gnu::always_inline]] static Words add(Words sum, Words a, Words b) {
    const auto x = reinterpret_cast<Floats>(a), y = reinterpret_cast<Floats>(b), z = reinterpret_cast<Floats>(sum);
#if defined(__AVX512F__)
    return reinterpret_cast<Words>(
        _mm512_fmadd_ps(reinterpret_cast<__m512>(x), reinterpret_cast<__m512>(y), reinterpret_cast<__m512>(z)));
#elif defined(__AVX2__)
    return reinterpret_cast<Words>(
        _mm256_fmadd_ps(reinterpret_cast<__m256>(x), reinterpret_cast<__m256>(y), reinterpret_cast<__m256>(z)));
#else
    Floats result{};
    for (int i = 0; i < width; ++i) result[i] = __builtin_fmaf(x[i], y[i], z[i]);
    return reinterpret_cast<Words>(result);
#endif
  }
};

// Sums of integers of any width wrap around.
struct IntSteps {
  using Sum = std::int32_t;
  using Element = std::int32_t;
  static constexpr int elements = 1;
  [[gnu::always_inline]] static Words add(Words sum, Words a, Words b) { return sum + a * b; }
};

// Pairs of integers that 16 bits hold.
struct ShortSteps {
  using Sum = std::int32_t;
  using Element = std::int16_t;
  static constexpr int elements = 2;
  [[gnu::always_inline]] static Words add(Words sum, Words a, Words b) {
#if defined(__AVX512BW__)
    return sum + reinterpret_cast<Words>(_mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
    return sum + reinterpret_cast<Words>(_mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#else
    const auto low = [](Words x) { return reinterpret_cast<Ints>(x << 16) >> 16; };
    const auto high = [](Words x) { return reinterpret_cast<Ints>(x) >> 16; };
    return sum + reinterpret_cast<Words>(low(a) * low(b)) + reinterpret_cast<Words>(high(a) * high(b));
#endif
  }
};

#if defined(__AVX512VNNI__) && defined(__AVX512BF16__)
#define METALLOID_HAS_DOT_PRODUCTS 1

// Four products of bytes, those of a without and those of b with a sign.
struct ByteSteps {
  using Sum = std::int32_t;
  using Element = std::uint8_t;
  static constexpr int elements = 4;
  [[gnu::always_inline]] static Words add(Words sum, Words a, Words b) {
    return reinterpret_cast<Words>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(a),
                                                       reinterpret_cast<__m512i>(b)));
  }
};

// Pairs of bfloat.
struct BfloatSteps {
  using Sum = float;
  using Element = std::uint16_t;
  static constexpr int elements = 2;
  [[gnu::always_inline]] static Words add(Words sum, Words a, Words b) {
    return reinterpret_cast<Words>(
        _mm512_dpbf16_ps(reinterpret_cast<__m512>(sum), reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b)));
  }
};
#endif

}  // namespace
}  // namespace metalloid::engines::simd
