// Elements of tiles in memory, read as what steps of products want and written as what sums become.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "engines/simd/tiles/arithmetic.h"
#include "engines/simd/tiles/product.h"

namespace metalloid::engines::simd {
namespace {

using ir::bytes_of;
using ir::is_float;
using ir::TileElement;

// Bits, and what they say.
struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};

template <typename To, typename From>
[[gnu::always_inline]] inline To as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

[[gnu::always_inline]] inline float number(float value) { return value; }
[[gnu::always_inline]] inline float number(Bfloat value) { return as<float>(std::uint32_t{value.bits} << 16); }
[[gnu::always_inline]] inline float number(Half value) {
  const std::uint32_t magnitude = (value.bits & 0x7fffu) << 13;
  std::uint32_t bits = as<std::uint32_t>(as<float>(magnitude) * 0x1p112f);
  if ((value.bits & 0x7c00) == 0x7c00) bits = magnitude | 0x7f800000;
  return as<float>(bits | (value.bits & 0x8000u) << 16);
}
template <typename Integer>
[[gnu::always_inline]] inline Integer number(Integer value) {
  return value;
}

// As Metal converts: to the nearest, ties to even; to integers towards zero, NaN to 0, what is too large to the ends.
[[gnu::always_inline]] inline Bfloat to_bfloat(float value) {
  const auto bits = as<std::uint32_t>(value);
  if (value != value) return {static_cast<std::uint16_t>(bits >> 16 | 0x40)};
  return {static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}
[[gnu::always_inline]] inline Half to_half(float value) {
  const std::uint32_t bits = as<std::uint32_t>(value), magnitude = bits & 0x7fffffff;
  std::uint32_t result = 0;
  if (magnitude > 0x7f800000) {
    result = 0x7e00 | (magnitude >> 13 & 0x3ff);
  } else if (magnitude >= 0x47800000) {
    result = 0x7c00;
  } else if (magnitude < 0x38800000) {
    result = as<std::uint32_t>(as<float>(magnitude) + 0.5f) - 0x3f000000;
  } else {
    result = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
  }
  return {static_cast<std::uint16_t>(result | (bits >> 16 & 0x8000))};
}
[[gnu::always_inline]] inline std::int32_t to_int(float value) {
  if (value != value) return 0;
  if (value >= 0x1p31f) return INT32_MAX;
  if (value <= -0x1p31f) return INT32_MIN;
  return static_cast<std::int32_t>(value);
}

template <typename T>
[[gnu::always_inline]] inline T element_at(const std::byte* address, std::int64_t place) {
  T value;
  std::memcpy(&value, address + place * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <std::uint32_t turned = 0>
[[gnu::always_inline]] inline void copy_words(const std::byte* from, std::uint32_t* to, int count) {
  const auto* words = reinterpret_cast<const std::uint32_t*>(from);
  int i = 0;
  for (; i + width <= count; i += width) store(to + i, load(words + i) ^ all(turned));
  for (; i < count; ++i) {
    const std::uint32_t word = element_at<std::uint32_t>(from, i) ^ turned;
    std::memcpy(to + i, &word, sizeof(word));
  }
}

template <typename T>
constexpr bool is_narrow_float = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>;

// Floats of elements that lie side by side.
template <typename T>
[[gnu::always_inline]] inline void widen(const std::byte* from, std::uint32_t* to, int count) {
  int i = 0;
#if defined(__AVX512F__)
  for (; i + width <= count; i += width) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 2 * i));
    __m512i words;
    if constexpr (std::is_same_v<T, Half>) {
      words = _mm512_castps_si512(_mm512_cvtph_ps(bits));
    } else {
      words = _mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16);
    }
    store(to + i, reinterpret_cast<Words>(words));
  }
#elif defined(__F16C__)
  for (; i + width <= count; i += width) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 2 * i));
    __m256i words;
    if constexpr (std::is_same_v<T, Half>) {
      words = _mm256_castps_si256(_mm256_cvtph_ps(bits));
    } else {
      words = _mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16);
    }
    store(to + i, reinterpret_cast<Words>(words));
  }
#endif
  for (; i < count; ++i) to[i] = as<std::uint32_t>(number(element_at<T>(from, i)));
}

// How steps of products take an element. `takes` says of which elements they take the bits as they are, but for
// `turned` ones.
struct AsFloat {
  static constexpr std::uint32_t turned = 0;
  static bool takes(TileElement element) { return element == TileElement::f32; }
  using Element = float;
  template <typename T>
  [[gnu::always_inline]] static float of(T value) {
    return static_cast<float>(number(value));
  }
};
struct AsInt {
  static constexpr std::uint32_t turned = 0;
  static bool takes(TileElement element) { return element == TileElement::i32 || element == TileElement::u32; }
  using Element = std::int32_t;
  template <typename T>
  [[gnu::always_inline]] static std::int32_t of(T value) {
    if constexpr (std::is_same_v<decltype(number(value)), float>) {
      return to_int(number(value));
    } else {
      return static_cast<std::int32_t>(number(value));
    }
  }
};
struct AsShort {
  static constexpr std::uint32_t turned = 0;
  static bool takes(TileElement element) { return element == TileElement::i16; }
  using Element = std::int16_t;
  template <typename T>
  [[gnu::always_inline]] static std::int16_t of(T value) {
    return static_cast<std::int16_t>(number(value));
  }
};
// Bytes of left operands are without a sign, those of right ones have one: whatever is the other way comes 128 off.
template <std::uint8_t off>
struct AsByte {
  static constexpr std::uint32_t turned = off * 0x01010101u;
  static bool takes(TileElement element) { return element == TileElement::i8 || element == TileElement::u8; }
  using Element = std::uint8_t;
  template <typename T>
  [[gnu::always_inline]] static std::uint8_t of(T value) {
    return static_cast<std::uint8_t>(static_cast<std::uint8_t>(number(value)) ^ off);
  }
};
struct AsBits {
  static constexpr std::uint32_t turned = 0;
  static bool takes(TileElement element) { return element == TileElement::bf16; }
  using Element = std::uint16_t;
  [[gnu::always_inline]] static std::uint16_t of(Bfloat value) { return value.bits; }
  template <typename T>
  [[gnu::always_inline]] static std::uint16_t of(T) {
    return 0;  // never asked for
  }
};

// So many elements, each `stride` behind the one before.
template <typename As, typename T>
inline void read_typed(const std::byte* address, std::int64_t place, std::int64_t stride, int count,
                       typename As::Element* to) {
  int i = 0;
  if (stride == 1) {
    const std::byte* from = address + place * static_cast<std::int64_t>(sizeof(T));
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<T, Half> && std::is_same_v<As, AsFloat>) {
      for (; i + 16 <= count; i += 16) {
        const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 2 * i));
        _mm512_storeu_ps(to + i, _mm512_cvtph_ps(bits));
      }
    }
#elif defined(__F16C__)
    if constexpr (std::is_same_v<T, Half> && std::is_same_v<As, AsFloat>) {
      for (; i + 8 <= count; i += 8) {
        const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 2 * i));
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(bits));
      }
    }
#endif
    for (; i < count; ++i) to[i] = As::of(element_at<T>(from, i));
    return;
  }
  for (; i < count; ++i) to[i] = As::of(element_at<T>(address, place + i * stride));
}

template <typename As, typename Signed>
inline void read_nibbles(const std::byte* address, std::int64_t place, std::int64_t stride, int count,
                         typename As::Element* to) {
  for (int i = 0; i < count; ++i) {
    const std::int64_t at = place + i * stride;
    const auto byte = static_cast<std::uint8_t>(address[at >> 1]);
    const auto bits = static_cast<std::uint8_t>((at & 1) != 0 ? byte >> 4 : byte & 15);
    to[i] = As::of(static_cast<Signed>(Signed(-1) < 0 ? (bits ^ 8) - 8 : bits));
  }
}

template <typename As>
inline void read_elements(const TileMatrix& matrix, std::int64_t place, std::int64_t stride, int count,
                          typename As::Element* to) {
  const auto read = [&]<typename T>(T) { read_typed<As, T>(matrix.address, place, stride, count, to); };
  switch (matrix.element) {
    case TileElement::f16: return read(Half{});
    case TileElement::bf16: return read(Bfloat{});
    case TileElement::f32: return read(float{});
    case TileElement::i8: return read(std::int8_t{});
    case TileElement::u8: return read(std::uint8_t{});
    case TileElement::i16: return read(std::int16_t{});
    case TileElement::u16: return read(std::uint16_t{});
    case TileElement::i32: return read(std::int32_t{});
    case TileElement::u32: return read(std::uint32_t{});
    case TileElement::i64: return read(std::int64_t{});
    case TileElement::u64: return read(std::uint64_t{});
    case TileElement::i4: return read_nibbles<As, std::int8_t>(matrix.address, place, stride, count, to);
    case TileElement::u4: return read_nibbles<As, std::uint8_t>(matrix.address, place, stride, count, to);
  }
}

template <typename T, typename Sum, typename Convert>
inline void write_typed(const TileMatrix& matrix, std::int64_t place, std::int64_t stride, int count, const Sum* from,
                        Convert convert) {
  std::byte* to = matrix.address + place * static_cast<std::int64_t>(sizeof(T));
  if (stride == 1) {
    int i = 0;
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<T, Half>) {
      for (; i + width <= count; i += width) {
        const __m256i halves = _mm512_cvtps_ph(_mm512_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i * sizeof(T)), halves);
      }
    }
#endif
    for (; i < count; ++i) {
      const T value = convert(from[i]);
      std::memcpy(to + i * sizeof(T), &value, sizeof(T));
    }
    return;
  }
  for (int i = 0; i < count; ++i) {
    const T value = convert(from[i]);
    std::memcpy(to + i * stride * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
  }
}

// Destinations of integers have sums of integers, others sums in float.
inline void write_elements(const TileMatrix& matrix, std::int64_t place, std::int64_t stride, int count,
                           const float* from) {
  switch (matrix.element) {
    case TileElement::f16: return write_typed<Half>(matrix, place, stride, count, from, to_half);
    case TileElement::bf16: return write_typed<Bfloat>(matrix, place, stride, count, from, to_bfloat);
    default: return write_typed<float>(matrix, place, stride, count, from, [](float sum) { return sum; });
  }
}
template <typename Integer>
inline void write_elements(const TileMatrix& matrix, std::int64_t place, std::int64_t stride, int count,
                           const Integer* from) {
  const auto write = [&]<typename T>(T) {
    write_typed<T>(matrix, place, stride, count, from, [](Integer value) { return static_cast<T>(value); });
  };
  switch (matrix.element) {
    case TileElement::i8:
    case TileElement::u8: return write(std::int8_t{});
    case TileElement::i16:
    case TileElement::u16: return write(std::int16_t{});
    case TileElement::i64:
    case TileElement::u64: return write(std::int64_t{});  // what is without a sign, too: sums are int
    default: return write(std::int32_t{});
  }
}

}  // namespace
}  // namespace metalloid::engines::simd
