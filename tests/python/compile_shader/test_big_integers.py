"""Arithmetic of a prime field and an elliptic curve over it, whose kernels are far too large to be one flat function."""

import random

import numpy
import pytest

import metalloid

PRIME = 21888242871839275222246405745257275088696311157297823662689037894645226208583  # BN254's base field
LIMBS = 16  # of 16 bits
RADIX = 1 << 256

FIELD = """
#include <metal_stdlib>
using namespace metal;
#define LIMBS 16
struct Field { uint limbs[LIMBS]; };
struct Point { Field x, y, z; };
constant uint prime[LIMBS] = {PRIME_LIMBS};
constant uint inverse = INVERSE;  // -1 / prime modulo 2^16

bool at_least_prime(Field a) {
  for (int i = LIMBS - 1; i >= 0; --i) {
    if (a.limbs[i] != prime[i]) return a.limbs[i] > prime[i];
  }
  return true;
}

Field reduce(Field a) {
  if (!at_least_prime(a)) return a;
  uint borrow = 0;
  for (int i = 0; i < LIMBS; ++i) {
    uint difference = a.limbs[i] - prime[i] - borrow;
    borrow = difference >> 31;
    a.limbs[i] = difference & 0xffff;
  }
  return a;
}

Field operator+(Field a, Field b) {
  uint carry = 0;
  for (int i = 0; i < LIMBS; ++i) {
    carry += a.limbs[i] + b.limbs[i];
    a.limbs[i] = carry & 0xffff;
    carry >>= 16;
  }
  return reduce(a);
}

Field operator-(Field a, Field b) {
  uint borrow = 0, carry = 0;
  for (int i = 0; i < LIMBS; ++i) {
    uint difference = a.limbs[i] - b.limbs[i] - borrow;
    borrow = difference >> 31;
    a.limbs[i] = difference & 0xffff;
  }
  if (borrow == 0) return a;
  for (int i = 0; i < LIMBS; ++i) {
    carry += a.limbs[i] + prime[i];
    a.limbs[i] = carry & 0xffff;
    carry >>= 16;
  }
  return a;
}

// Montgomery's product: a * b / 2^256.
Field operator*(Field a, Field b) {
  uint t[LIMBS + 2] = {};
#pragma unroll
  for (int i = 0; i < LIMBS; ++i) {
    uint carry = 0;
#pragma unroll
    for (int j = 0; j < LIMBS; ++j) {
      uint sum = t[j] + a.limbs[j] * b.limbs[i] + carry;
      t[j] = sum & 0xffff;
      carry = sum >> 16;
    }
    carry += t[LIMBS];
    t[LIMBS] = carry & 0xffff;
    t[LIMBS + 1] = carry >> 16;
    uint factor = (t[0] * inverse) & 0xffff;
    carry = (t[0] + factor * prime[0]) >> 16;
#pragma unroll
    for (int j = 1; j < LIMBS; ++j) {
      uint sum = t[j] + factor * prime[j] + carry;
      t[j - 1] = sum & 0xffff;
      carry = sum >> 16;
    }
    carry += t[LIMBS];
    t[LIMBS - 1] = carry & 0xffff;
    t[LIMBS] = t[LIMBS + 1] + (carry >> 16);
  }
  Field result;
  for (int i = 0; i < LIMBS; ++i) result.limbs[i] = t[i];
  return reduce(result);
}

Point twice(Point p) {
  Field a = p.x * p.x, b = p.y * p.y, c = b * b;
  Field d = (p.x + b) * (p.x + b) - a - c;
  d = d + d;
  Field e = a + a + a, f = e * e;
  Field x = f - (d + d), c8 = c + c;
  c8 = c8 + c8;
  c8 = c8 + c8;
  Field z = p.y * p.z;
  return {x, e * (d - x) - c8, z + z};
}

Point operator+(Point p, Point q) {
  Field zp = p.z * p.z, zq = q.z * q.z;
  Field u1 = p.x * zq, u2 = q.x * zp, s1 = p.y * q.z * zq, s2 = q.y * p.z * zp;
  Field h = u2 - u1, i = (h + h) * (h + h), j = h * i, r = s2 - s1, v = u1 * i;
  r = r + r;
  Field x = r * r - j - (v + v), s1j = s1 * j;
  return {x, r * (v - x) - (s1j + s1j), ((p.z + q.z) * (p.z + q.z) - zp - zq) * h};
}

Point load(device const uint* from) {
  Point p;
  for (int i = 0; i < LIMBS; ++i) {
    p.x.limbs[i] = from[i];
    p.y.limbs[i] = from[LIMBS + i];
    p.z.limbs[i] = from[2 * LIMBS + i];
  }
  return p;
}

void store(Point p, device uint* to) {
  for (int i = 0; i < LIMBS; ++i) {
    to[i] = p.x.limbs[i];
    to[LIMBS + i] = p.y.limbs[i];
    to[2 * LIMBS + i] = p.z.limbs[i];
  }
}

kernel void multiples(device uint* out, device const uint* points, uint i [[thread_position_in_grid]]) {
  Point p = load(points + 3 * LIMBS * i);
  Point p2 = twice(p), p3 = p2 + p, p6 = twice(p3), p7 = p6 + p, p13 = p7 + p6;
  store(twice(twice(p13)) + p3, out + 3 * LIMBS * i);
}

// The points of a threadgroup added up pairwise; neighbours wait for each other inside of functions too.
Point gather(threadgroup Point* shared, Point mine, uint i, uint stride) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  shared[i] = mine;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (i % (2 * stride) == 0) mine = mine + shared[i + stride];
  return mine;
}

kernel void total(device uint* out, device const uint* points, uint i [[thread_index_in_threadgroup]]) {
  threadgroup Point shared[8];
  Point sum = load(points + 3 * LIMBS * i);
  sum = gather(shared, sum, i, 1);
  sum = gather(shared, sum, i, 2);
  sum = gather(shared, sum, i, 4);
  if (i == 0) store(sum, out);
}
"""


def limbs_of(number):
    return [number >> (16 * i) & 0xFFFF for i in range(LIMBS)]


def number_of(limbs):
    return sum(int(limb) << (16 * i) for i, limb in enumerate(limbs))


def montgomery(number):
    return number * RADIX % PRIME


def plus(p, q):
    (x1, y1), (x2, y2) = p, q
    if p == q:
        slope = 3 * x1 * x1 * pow(2 * y1, -1, PRIME) % PRIME
    else:
        slope = (y2 - y1) * pow(x2 - x1, -1, PRIME) % PRIME
    x = (slope * slope - x1 - x2) % PRIME
    return x, (slope * (x1 - x) - y1) % PRIME


def times(n, p):
    result = None
    for bit in bin(n)[2:]:
        result = plus(result, result) if result else None
        if bit == "1":
            result = plus(result, p) if result else p
    return result


def as_limbs(points, seed=1):
    """Jacobian coordinates (x z^2, y z^3, z) with random z, each number times 2^256."""
    source = random.Random(seed)
    rows = []
    for x, y in points:
        z = source.randrange(1, PRIME)
        rows.append([limbs_of(montgomery(c)) for c in (x * z * z % PRIME, y * z**3 % PRIME, z)])
    return numpy.array(rows, dtype=numpy.uint32)


def as_point(rows):
    x, y, z = (number_of(row) * pow(RADIX, -1, PRIME) % PRIME for row in rows)
    inverse = pow(z, -1, PRIME)
    return x * inverse**2 % PRIME, y * inverse**3 % PRIME


@pytest.fixture(scope="module")
def library():
    inverse = -pow(PRIME, -1, 1 << 16) % (1 << 16)
    limbs = ", ".join(map(str, limbs_of(PRIME)))
    return metalloid.compile_shader(FIELD.replace("PRIME_LIMBS", limbs).replace("INVERSE", str(inverse)))


def test_multiples_of_points(library):
    points = [times(k, (1, 2)) for k in (1, 2, 5, 77, 123456789)]
    out = numpy.zeros((len(points), 3, LIMBS), dtype=numpy.uint32)
    library.multiples(out, as_limbs(points), threads=len(points))
    for point, got in zip(points, out, strict=True):
        assert as_point(got) == times(55, point)


def test_sum_over_a_threadgroup(library):
    factors = [3, 5, 7, 11, 13, 17, 19, 23]
    out = numpy.zeros((3, LIMBS), dtype=numpy.uint32)
    library.total(out, as_limbs([times(k, (1, 2)) for k in factors]), threads=8, group_size=8)
    assert as_point(out) == times(sum(factors), (1, 2))
