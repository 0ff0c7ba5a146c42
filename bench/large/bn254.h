// The field that the curve BN254 is defined over: 256 bits in eight limbs, the least significant first, in Montgomery
// form: x is kept as x * 2^256 modulo p.
#pragma once

#include <metal_stdlib>

constant constexpr uint limb_count = 8;
// Of p and of -1/p modulo 2^32.
constant uint modulus[limb_count] = {0xd87cfd47, 0x3c208c16, 0x6871ca8d, 0x97816a91,
                                     0x8181585d, 0xb85045b6, 0xe131a029, 0x30644e72};
constant constexpr uint negative_inverse = 0xe4866389;
// 2^256 modulo p, which is 1 in Montgomery form.
constant uint montgomery_one[limb_count] = {0xc58f0d9d, 0xd35d438d, 0xf5c70b3d, 0x0a78eb28,
                                            0x7879462c, 0x666ea36f, 0x9a07df2f, 0x0e0a77c1};

struct Field {
  uint limbs[limb_count];
};

inline Field zero() {
  Field result;
  for (uint i = 0; i < limb_count; ++i) result.limbs[i] = 0;
  return result;
}

inline Field one() {
  Field result;
  for (uint i = 0; i < limb_count; ++i) result.limbs[i] = montgomery_one[i];
  return result;
}

inline bool is_zero(thread const Field& a) {
  uint bits = 0;
  for (uint i = 0; i < limb_count; ++i) bits |= a.limbs[i];
  return bits == 0;
}

inline bool equal(thread const Field& a, thread const Field& b) {
  uint bits = 0;
  for (uint i = 0; i < limb_count; ++i) bits |= a.limbs[i] ^ b.limbs[i];
  return bits == 0;
}

// Returns what is borrowed from beyond the highest limb.
inline uint subtract_limbs(thread Field& result, thread const Field& a, Field b) {
  uint borrow = 0;
  for (uint i = 0; i < limb_count; ++i) {
    const ulong difference = ulong(a.limbs[i]) - b.limbs[i] - borrow;
    result.limbs[i] = uint(difference);
    borrow = uint(difference >> 32) & 1;
  }
  return borrow;
}

// a or a - p, whichever is below p.
inline Field reduce_once(thread const Field& a) {
  Field p, reduced;
  for (uint i = 0; i < limb_count; ++i) p.limbs[i] = modulus[i];
  if (subtract_limbs(reduced, a, p)) return a;
  return reduced;
}

inline Field add(thread const Field& a, thread const Field& b) {
  Field sum;
  ulong carry = 0;
  for (uint i = 0; i < limb_count; ++i) {
    carry += ulong(a.limbs[i]) + b.limbs[i];
    sum.limbs[i] = uint(carry);
    carry >>= 32;
  }
  return reduce_once(sum);  // p has 254 bits: nothing is carried out of the highest limb
}

inline Field twice(Field a) { return add(a, a); }

__attribute__((noinline)) Field subtract(thread const Field& a, thread const Field& b) {
  Field difference;
  if (!subtract_limbs(difference, a, b)) return difference;
  ulong carry = 0;
  for (uint i = 0; i < limb_count; ++i) {
    carry += ulong(difference.limbs[i]) + modulus[i];
    difference.limbs[i] = uint(carry);
    carry >>= 32;
  }
  return difference;
}

// Montgomery's product, a * b / 2^256, one limb of b at a time.
__attribute__((noinline)) Field multiply(Field a, Field b) {
  uint sum[limb_count + 2] = {0};
  for (uint i = 0; i < limb_count; ++i) {
    ulong carry = 0;
    for (uint j = 0; j < limb_count; ++j) {
      carry += ulong(a.limbs[j]) * b.limbs[i] + sum[j];
      sum[j] = uint(carry);
      carry >>= 32;
    }
    carry += sum[limb_count];
    sum[limb_count] = uint(carry);
    sum[limb_count + 1] = uint(carry >> 32);

    const uint factor = sum[0] * negative_inverse;
    carry = (ulong(factor) * modulus[0] + sum[0]) >> 32;
    for (uint j = 1; j < limb_count; ++j) {
      carry += ulong(factor) * modulus[j] + sum[j];
      sum[j - 1] = uint(carry);
      carry >>= 32;
    }
    carry += sum[limb_count];
    sum[limb_count - 1] = uint(carry);
    sum[limb_count] = sum[limb_count + 1] + uint(carry >> 32);
  }
  Field product;
  for (uint i = 0; i < limb_count; ++i) product.limbs[i] = sum[i];
  return reduce_once(product);
}

inline Field square(thread const Field& a) { return multiply(a, a); }

// a^(p - 2), which is 1 / a, or 0 for 0.
inline Field invert(Field a) {
  Field exponent, two = zero();
  for (uint i = 0; i < limb_count; ++i) exponent.limbs[i] = modulus[i];
  two.limbs[0] = 2;
  subtract_limbs(exponent, exponent, two);
  Field result = one();
  for (int bit = 32 * limb_count - 1; bit >= 0; --bit) {
    result = square(result);
    if (exponent.limbs[bit / 32] >> (bit % 32) & 1) result = multiply(result, a);
  }
  return result;
}
