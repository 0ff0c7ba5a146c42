// Programs of numbers of 256 bits, which run with fewer lanes of a simdgroup at a time: what comes of them is Python's.
#include <metal_stdlib>
using namespace metal;

struct Number {
  uint words[8];
};

// The lower half of the product.
static Number multiply(Number a, Number b) {
  Number product = {};
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    ulong carry = 0;
#pragma unroll
    for (int j = 0; j < 8 - i; ++j) {
      const ulong sum = ulong(a.words[i]) * b.words[j] + product.words[i + j] + carry;
      product.words[i + j] = uint(sum);
      carry = sum >> 32;
    }
  }
  return product;
}

template <int multiplications = 6>
static uint power_of(uint seed) {
  Number x;
  for (int k = 0; k < 8; ++k) x.words[k] = seed = seed * 1664525 + 1013904223;
  Number y = x;
#pragma unroll
  for (int k = 0; k < multiplications; ++k) y = multiply(y, k % 2 == 0 ? x : y);
  uint result = 0;
  for (int k = 0; k < 8; ++k) result = result * 31 + y.words[k];
  return result;
}

// Threadgroups of 20 threads, and one of 4; in rows; less than a row; and one thread by itself.
// RUN: --kernel powers --threads 44 --group 20 --arg out=u32[44]=zeros --arg seeds=u32[44]=arange
// EXPECT out: 3970843416 2581285342 2541912043 2144199454 2684389850 1651991437 123048723 1087497628 2844047323 2567744789 929281099 757476560 741823761 3069041140 269189704 4063631007 390628644 1574112478 403787298 530078687 116975665 2832264322 1801472632 1686500866 1347497258 1568870169 1473685913 2616276440 2142715810 703016088 2829714588 4153468420 2620611760 3579373515 1269331652 3095074479 1692342199 3047734319 3131547848 574660343 2167329226 2464906667 3214128932 3375391412
// RUN: --kernel powers --threads 44 --group 32 --arg out=u32[44]=zeros --arg seeds=u32[44]=arange
// EXPECT out: 3970843416 2581285342 2541912043 2144199454 2684389850 1651991437 123048723 1087497628 2844047323 2567744789 929281099 757476560 741823761 3069041140 269189704 4063631007 390628644 1574112478 403787298 530078687 116975665 2832264322 1801472632 1686500866 1347497258 1568870169 1473685913 2616276440 2142715810 703016088 2829714588 4153468420 2620611760 3579373515 1269331652 3095074479 1692342199 3047734319 3131547848 574660343 2167329226 2464906667 3214128932 3375391412
// RUN: --kernel powers --threads 4 --group 64 --arg out=u32[4]=zeros --arg seeds=u32[4]=arange
// EXPECT out: 3970843416 2581285342 2541912043 2144199454
// RUN: --kernel powers --threads 2 --group 1 --arg out=u32[2]=zeros --arg seeds=u32[2]=arange
// EXPECT out: 3970843416 2581285342
// RUN: --kernel powers --threadgroups 2 --group 32 --arg out=u32[44]=zeros --arg seeds=u32[64]=arange
// ERROR out_of_bounds: writes outside of argument 'out' (buffer 0): element 44 of 44 (bytes 176 to 179 of 176)
// ERROR out_of_bounds: thread (44, 0, 0)
kernel void powers(device uint* out, device const uint* seeds, uint i [[thread_position_in_grid]]) {
  out[i] = power_of(seeds[i]);
}

// In two dimensions, where rows are a part of 32 threads.
// RUN: --kernel table --threads 11,4 --group 8,2 --arg out=u32[44]=zeros --arg width=11
// EXPECT out: 3970843416 2581285342 2541912043 2144199454 2684389850 1651991437 123048723 1087497628 2844047323 2567744789 929281099 757476560 741823761 3069041140 269189704 4063631007 390628644 1574112478 403787298 530078687 116975665 2832264322 1801472632 1686500866 1347497258 1568870169 1473685913 2616276440 2142715810 703016088 2829714588 4153468420 2620611760 3579373515 1269331652 3095074479 1692342199 3047734319 3131547848 574660343 2167329226 2464906667 3214128932 3375391412
// RUN: --kernel table --threads 11,4 --group 11,4 --arg out=u32[44]=zeros --arg width=11
// EXPECT out: 3970843416 2581285342 2541912043 2144199454 2684389850 1651991437 123048723 1087497628 2844047323 2567744789 929281099 757476560 741823761 3069041140 269189704 4063631007 390628644 1574112478 403787298 530078687 116975665 2832264322 1801472632 1686500866 1347497258 1568870169 1473685913 2616276440 2142715810 703016088 2829714588 4153468420 2620611760 3579373515 1269331652 3095074479 1692342199 3047734319 3131547848 574660343 2167329226 2464906667 3214128932 3375391412
kernel void table(device uint* out, constant uint& width, uint2 at [[thread_position_in_grid]]) {
  out[at.y * width + at.x] = power_of(at.y * width + at.x);
}

// All change one place, and learn what was there.
// RUN: --kernel sums --threads 96 --group 96 --arg sum=u32[2]=zeros --arg seen=u32[96]=zeros
// EXPECT sum: 100317869 9216
// EXPECT seen: 1 x 96
kernel void sums(device atomic_uint* sum, device atomic_uint* seen, uint i [[thread_position_in_grid]]) {
  atomic_fetch_add_explicit(&sum[0], power_of(i) * (2 * i + 1), memory_order_relaxed);
  const uint before = atomic_fetch_add_explicit(&sum[1], 96u, memory_order_relaxed);
  atomic_fetch_add_explicit(&seen[before / 96], 1u, memory_order_relaxed);
}

// Each takes what its mirror image has computed.
// RUN: --kernel mirrored --threads 44 --group 20 --arg out=u32[44]=zeros
// EXPECT out: 530078687 403787298 1574112478 390628644 4063631007 269189704 3069041140 741823761 757476560 929281099 2567744789 2844047323 1087497628 123048723 1651991437 2684389850 2144199454 2541912043 2581285342 3970843416 574660343 3131547848 3047734319 1692342199 3095074479 1269331652 3579373515 2620611760 4153468420 2829714588 703016088 2142715810 2616276440 1473685913 1568870169 1347497258 1686500866 1801472632 2832264322 116975665 3375391412 3214128932 2464906667 2167329226
kernel void mirrored(device uint* out, uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]],
                     uint threads [[threads_per_threadgroup]]) {
  threadgroup uint shared_results[1024];
  shared_results[t] = power_of(i);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = shared_results[threads - 1 - t];
}

// As many threads as meet: 64 groups of 16 lanes.
// RUN: --kernel rounds --threads 1024 --group 1024 --arg out=u32[1024]=zeros --arg turns=5
// EXPECT out: 1 x 1024
kernel void rounds(device uint* out, constant uint& turns, uint t [[thread_index_in_threadgroup]],
                   uint threads [[threads_per_threadgroup]]) {
  threadgroup uint passed_on[1024];
  uint own = power_of(t);
  for (uint k = 0; k < turns; ++k) {
    passed_on[t] = own;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    own = passed_on[(t + 1) % threads];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[t] = own == power_of((t + turns) % threads);
}

// Functions that stay calls.
// RUN: --kernel called --threads 44 --group 20 --arg out=u32[44]=zeros
// EXPECT out: 3970843416 2581285342 2541912043 2144199454 2684389850 1651991437 123048723 1087497628 2844047323 2567744789 929281099 757476560 741823761 3069041140 269189704 4063631007 390628644 1574112478 403787298 530078687 116975665 2832264322 1801472632 1686500866 1347497258 1568870169 1473685913 2616276440 2142715810 703016088 2829714588 4153468420 2620611760 3579373515 1269331652 3095074479 1692342199 3047734319 3131547848 574660343 2167329226 2464906667 3214128932 3375391412
[[clang::noinline]] static uint called_power_of(uint seed) { return power_of(seed); }

kernel void called(device uint* out, uint i [[thread_position_in_grid]]) {
  if (i % 3 == 0)
    out[i] = called_power_of(i);
  else
    out[i] = called_power_of(i);
}

// Long enough for 8 lanes at a time.
// RUN: --kernel long_powers --threads 44 --group 20 --arg out=u32[44]=zeros
// EXPECT out: 1226373312 0 3136614881 0 792304309 0 1185757223 0 516902915 0 3240110862 0 501719951 0 3654391059 0 732500105 0 2012874995 0 2586940844 0 2818688085 0 757610602 0 1318698137 0 137899967 0 242697412 0 1298612444 0 2466904775 0 1673449307 0 2344618682 0 3893502305 0 4548257 0
// RUN: --kernel long_powers --threadgroups 2 --group 24 --arg out=u32[44]=zeros
// ERROR out_of_bounds: thread (44, 0, 0)
kernel void long_powers(device uint* out, uint i [[thread_position_in_grid]]) { out[i] = power_of<18>(i); }
