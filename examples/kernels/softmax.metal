// Softmax over the rows of a matrix: out = exp(x - max(x)) / sum(exp(x - max(x))), for float, half and bfloat.
//
// Two reductions per row: the largest element (so that exp cannot overflow), then the sum. They exist in two forms:
// `softmax_one_simdgroup` gives a row to the 32 lanes of one simdgroup, which need neither threadgroup memory nor
// barriers; `softmax` gives it to a whole threadgroup of any size, for long rows.
//
//   metalloid run examples/kernels/softmax.metal --kernel softmax_float --threadgroups 8 --group 256
//       --arg out=f32[8,1000]=zeros --arg x=f32[8,1000]=normal --arg columns=u32:1000
#include <metal_stdlib>
using namespace metal;

// Infinity is a number here like others; fast math mode would allow the compiler to assume that there is none.
#pragma METAL fp math_mode(safe)

struct Maximum {
  static float of_lanes(float value) { return simd_max(value); }
  static float of_two(float a, float b) { return max(a, b); }
};

struct Sum {
  static float of_lanes(float value) { return simd_sum(value); }
  static float of_two(float a, float b) { return a + b; }
};

// The reduction of `value` over all threads of the threadgroup, in every thread.
template <typename Operation>
float reduce(float value, threadgroup float* scratch, uint lane, uint simdgroup, uint simdgroups) {
  value = Operation::of_lanes(value);
  threadgroup_barrier(mem_flags::mem_threadgroup);  // a reduction before this one may still be reading scratch
  if (lane == 0) {
    scratch[simdgroup] = value;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  // Every thread adds up the simdgroups itself: the last simdgroup may have too few lanes to share this out.
  value = scratch[0];
  for (uint i = 1; i < simdgroups; ++i) {
    value = Operation::of_two(value, scratch[i]);
  }
  return value;
}

template <typename T>
[[kernel]] void softmax(device T* out [[buffer(0)]],
                        device const T* x [[buffer(1)]],
                        constant uint& columns [[buffer(2)]],
                        uint row [[threadgroup_position_in_grid]],
                        uint thread_index [[thread_index_in_threadgroup]],
                        uint threads [[threads_per_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]],
                        uint simdgroup [[simdgroup_index_in_threadgroup]],
                        uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float scratch[32];

  device const T* row_in = x + size_t(row) * columns;
  float largest = -INFINITY;
  for (uint column = thread_index; column < columns; column += threads) {
    largest = max(largest, float(row_in[column]));
  }
  largest = reduce<Maximum>(largest, scratch, lane, simdgroup, simdgroups);

  float sum = 0;
  for (uint column = thread_index; column < columns; column += threads) {
    sum += exp(float(row_in[column]) - largest);
  }
  const float factor = 1 / reduce<Sum>(sum, scratch, lane, simdgroup, simdgroups);

  device T* row_out = out + size_t(row) * columns;
  for (uint column = thread_index; column < columns; column += threads) {
    row_out[column] = T(exp(float(row_in[column]) - largest) * factor);
  }
}

// For threadgroups of one or more whole simdgroups; each takes a row of its own.
template <typename T>
[[kernel]] void softmax_one_simdgroup(device T* out [[buffer(0)]],
                                      device const T* x [[buffer(1)]],
                                      constant uint& columns [[buffer(2)]],
                                      constant uint& rows [[buffer(3)]],
                                      uint group [[threadgroup_position_in_grid]],
                                      uint lane [[thread_index_in_simdgroup]],
                                      uint simdgroup [[simdgroup_index_in_threadgroup]],
                                      uint simdgroups [[simdgroups_per_threadgroup]]) {
  const uint row = group * simdgroups + simdgroup;
  if (row >= rows) {
    return;  // the whole simdgroup leaves, and nothing below waits for other simdgroups
  }
  device const T* row_in = x + size_t(row) * columns;
  float largest = -INFINITY;
  for (uint column = lane; column < columns; column += 32) {
    largest = max(largest, float(row_in[column]));
  }
  largest = simd_max(largest);

  float sum = 0;
  for (uint column = lane; column < columns; column += 32) {
    sum += exp(float(row_in[column]) - largest);
  }
  const float factor = 1 / simd_sum(sum);

  device T* row_out = out + size_t(row) * columns;
  for (uint column = lane; column < columns; column += 32) {
    row_out[column] = T(exp(float(row_in[column]) - largest) * factor);
  }
}

#define instantiate_softmax(T)                                                      \
  template [[host_name("softmax_" #T)]] [[kernel]] decltype(softmax<T>) softmax<T>; \
  template [[host_name("softmax_one_simdgroup_" #T)]] [[kernel]]                    \
  decltype(softmax_one_simdgroup<T>) softmax_one_simdgroup<T>;

instantiate_softmax(float)
instantiate_softmax(half)
instantiate_softmax(bfloat)
