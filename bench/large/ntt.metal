// Number-theoretic transforms of 1024 elements over the Goldilocks field, one in each threadgroup.
#include "goldilocks.h"

using namespace metal;

constant constexpr uint bits = 10, size = 1 << bits, threads = 256;

static uint reverse_index(uint index) { return reverse_bits(index) >> (32 - bits); }

static void butterfly(threadgroup Goldilocks& low, threadgroup Goldilocks& high, thread const Goldilocks& root) {
  const Goldilocks a = low, b = high * root;
  low = a + b;
  high = a - b;
}

// roots: powers of an element of order 1024.
kernel void ntt(device Goldilocks* results [[buffer(0)]], device const Goldilocks* polynomials [[buffer(1)]],
                constant Goldilocks* roots [[buffer(2)]], uint group [[threadgroup_position_in_grid]],
                uint thread_index [[thread_index_in_threadgroup]]) {
  threadgroup Goldilocks data[size];
  for (uint i = thread_index; i < size; i += threads) data[reverse_index(i)] = polynomials[group * size + i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stage = 0; stage < bits; ++stage) {
    const uint half_length = 1 << stage;
    for (uint i = thread_index; i < size / 2; i += threads) {
      const uint within = i % half_length, first = i / half_length * half_length * 2 + within;
      const Goldilocks root = roots[within << (bits - 1 - stage)];
      butterfly(data[first], data[first + half_length], root);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  for (uint i = thread_index; i < size; i += threads) results[group * size + i] = data[i];
}
