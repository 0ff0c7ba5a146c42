// LayerNorm of one row by one threadgroup: out = (x - mean) / sqrt(variance + epsilon) * weight + bias.
//
// The variance is the mean of (x - mean)^2, which takes a second pass over the row. The shorter way, mean(x^2) -
// mean^2 in one pass, subtracts two large numbers that are nearly equal when the mean is large against the spread, and
// loses all digits. The second pass also adds up x - mean. Exactly, that sum is zero; what it shows is the rounding
// error of the mean, which is taken back. In fast math mode, the compiler may reorder sums as if numbers were exact,
// and take this apart: so this file asks for safe math, whatever the mode of the rest.
#ifndef EXAMPLES_LAYER_NORM_H
#define EXAMPLES_LAYER_NORM_H

#include <metal_stdlib>

#pragma METAL fp math_mode(safe)

// The sum of `value` over all threads of the threadgroup, in every thread. `scratch` holds 32 numbers.
inline float threadgroup_sum(float value, threadgroup float* scratch, uint lane, uint simdgroup, uint simdgroups) {
  value = metal::simd_sum(value);
  // A sum before this one may still be reading scratch.
  metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
  if (lane == 0) {
    scratch[simdgroup] = value;
  }
  metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
  value = 0;
  for (uint i = 0; i < simdgroups; ++i) {
    value += scratch[i];
  }
  return value;
}

// All threads of the threadgroup call this with the same row.
template <typename T>
void layer_norm_row(device T* out, device const T* x, device const T* weight, device const T* bias, uint columns,
                    float epsilon, threadgroup float* scratch, uint thread_index, uint threads, uint lane,
                    uint simdgroup, uint simdgroups) {
  float sum = 0;
  for (uint column = thread_index; column < columns; column += threads) {
    sum += float(x[column]);
  }
  const float rounded_mean = threadgroup_sum(sum, scratch, lane, simdgroup, simdgroups) / columns;

  float differences = 0, squares = 0;
  for (uint column = thread_index; column < columns; column += threads) {
    const float difference = float(x[column]) - rounded_mean;
    differences += difference;
    squares += difference * difference;
  }
  const float correction = threadgroup_sum(differences, scratch, lane, simdgroup, simdgroups) / columns;
  squares = threadgroup_sum(squares, scratch, lane, simdgroup, simdgroups);
  const float variance = metal::max(squares / columns - correction * correction, 0.0f);
  const float scale = metal::rsqrt(variance + epsilon);

  for (uint column = thread_index; column < columns; column += threads) {
    const float normalised = (float(x[column]) - rounded_mean - correction) * scale;
    out[column] = T(normalised * float(weight[column]) + float(bias[column]));
  }
}

#endif
