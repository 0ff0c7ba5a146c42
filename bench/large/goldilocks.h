// The field of integers modulo 2^64 - 2^32 + 1.
#pragma once

#include <metal_stdlib>

constant constexpr ulong goldilocks_modulus = 0xffffffff00000001;
constant constexpr ulong goldilocks_epsilon = 0xffffffff;  // 2^64 modulo the modulus

struct Goldilocks {
  ulong value;
};

inline Goldilocks operator+(Goldilocks a, Goldilocks b) {
  const ulong sum = a.value + b.value;
  const bool is_over = sum < a.value || sum >= goldilocks_modulus;
  return {is_over ? sum - goldilocks_modulus : sum};
}

inline Goldilocks operator-(Goldilocks a, Goldilocks b) {
  const ulong difference = a.value - b.value;
  return {a.value < b.value ? difference + goldilocks_modulus : difference};
}

// high * 2^64 + low, where 2^64 is 2^32 - 1 and 2^96 is -1.
__attribute__((noinline)) Goldilocks reduce(ulong high, ulong low) {
  const ulong top = high >> 32;
  ulong rest = low - top;
  if (low < top) rest -= goldilocks_epsilon;
  const ulong middle = (high & 0xffffffff) * goldilocks_epsilon;
  ulong sum = rest + middle;
  if (sum < middle) sum += goldilocks_epsilon;
  return {sum >= goldilocks_modulus ? sum - goldilocks_modulus : sum};
}

inline Goldilocks operator*(Goldilocks a, Goldilocks b) {
  return reduce(metal::mulhi(a.value, b.value), a.value * b.value);
}
