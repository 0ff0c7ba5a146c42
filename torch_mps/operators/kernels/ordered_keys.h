// Elements as unsigned integers in the order of sorting: not-a-number is greater than everything, both zeros are equal.
#pragma once

#include <metal_stdlib>

template <typename T>
struct OrderedKey;

// Floating-point numbers of which a bit pattern tells the magnitude; `infinity` is that of infinity.
template <typename T, typename Bits, uint bit_count, uint infinity>
struct FloatKey {
  using Key = uint;
  static constexpr constant uint bits = bit_count;
  static inline Key of(T value) {
    constexpr uint sign = 1u << (bit_count - 1), all = sign | (sign - 1);
    const uint pattern = metal::as_type<Bits>(value), magnitude = pattern & (sign - 1);
    const uint ordered = (pattern & sign) != 0 ? sign - magnitude : sign + magnitude;
    return magnitude > infinity ? all : ordered;
  }
};
template <typename T, typename Word, uint bit_count, bool is_signed>
struct IntegerKey {
  using Key = Word;
  static constexpr constant uint bits = bit_count;
  static inline Key of(T value) {
    constexpr Key sign = Key(1) << (bit_count - 1);
    return is_signed ? (Key(value) ^ sign) & (sign | (sign - 1)) : Key(value);
  }
};

template <> struct OrderedKey<float> : FloatKey<float, uint, 32, 0x7f800000> {};
template <> struct OrderedKey<half> : FloatKey<half, ushort, 16, 0x7c00> {};
template <> struct OrderedKey<bfloat> : FloatKey<bfloat, ushort, 16, 0x7f80> {};
template <> struct OrderedKey<long> : IntegerKey<long, ulong, 64, true> {};
template <> struct OrderedKey<int> : IntegerKey<int, uint, 32, true> {};
template <> struct OrderedKey<short> : IntegerKey<short, uint, 16, true> {};
template <> struct OrderedKey<char> : IntegerKey<char, uint, 8, true> {};
template <> struct OrderedKey<uchar> : IntegerKey<uchar, uint, 8, false> {};
template <> struct OrderedKey<bool> : IntegerKey<bool, uint, 1, false> {};
template <> struct OrderedKey<ushort> : IntegerKey<ushort, uint, 16, false> {};
template <> struct OrderedKey<uint> : IntegerKey<uint, uint, 32, false> {};
template <> struct OrderedKey<ulong> : IntegerKey<ulong, ulong, 64, false> {};
