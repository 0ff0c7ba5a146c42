// Softmax over the rows of a matrix: out = exp(x - max(x)) / sum(exp(x - max(x))).
//
// One threadgroup per row, two reductions: the largest element (so that exp cannot overflow), then the sum.
// Both go through one helper, a template over the operation.
//
//   metalloid run examples/kernels/softmax.metal --kernel softmax --threadgroups 8 --group 256
//       --arg out=f32[8,1000]=zeros --arg x=f32[8,1000]=normal --arg columns=u32:1000
#include <metal_stdlib>
using namespace metal;

struct Maximum {
  static constexpr constant float identity = -INFINITY;
  float operator()(float value) const { return simd_max(value); }
};

struct Sum {
  static constexpr constant float identity = 0;
  float operator()(float value) const { return simd_sum(value); }
};

// The reduction of `value` over all threads of the threadgroup, in every thread.
template <typename Operation>
float reduce(float value, threadgroup float* scratch, uint lane, uint simdgroup, uint simdgroups) {
  Operation operation;
  value = operation(value);
  // Scratch may still be read by a reduction before this one.
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 0) {
    scratch[simdgroup] = value;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return operation(lane < simdgroups ? scratch[lane] : Operation::identity);
}

kernel void softmax(device float* out [[buffer(0)]],
                    device const float* x [[buffer(1)]],
                    constant uint& columns [[buffer(2)]],
                    uint row [[threadgroup_position_in_grid]],
                    uint thread_index [[thread_index_in_threadgroup]],
                    uint threads [[threads_per_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]],
                    uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float scratch[32];

  device const float* row_in = x + size_t(row) * columns;
  float largest = -INFINITY;
  for (uint column = thread_index; column < columns; column += threads) {
    largest = max(largest, row_in[column]);
  }
  largest = reduce<Maximum>(largest, scratch, lane, simdgroup, simdgroups);

  float sum = 0;
  for (uint column = thread_index; column < columns; column += threads) {
    sum += exp(row_in[column] - largest);
  }
  sum = reduce<Sum>(sum, scratch, lane, simdgroup, simdgroups);

  device float* row_out = out + size_t(row) * columns;
  for (uint column = thread_index; column < columns; column += threads) {
    row_out[column] = exp(row_in[column] - largest) / sum;
  }
}
