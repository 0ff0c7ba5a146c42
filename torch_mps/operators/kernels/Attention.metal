// softmax(scale * query @ key^T + mask) @ value in one pass over the keys: maximum and sum of each row follow along, and
// what was summed before is scaled when the maximum grows.
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
#include <metal_stdlib>

using namespace metal;
using namespace mpp::tensor_ops;

// Strides count elements: batch, head, position, feature.
struct AttentionParams {
  long query[4], key[4], value[4], mask[4], result[4];
  int heads, query_length, key_length, features, value_features;
  int heads_per_key, heads_per_value;
  float scale;
  int is_causal;
  int mask_kind;  // 0 none, 1 Boolean, 2 added
};

// A threadgroup has so many rows of the result and columns of them, and takes so many keys at a time: scores and sums
// of a threadgroup are 32 KiB.
constant constexpr int keys = 64;
constant constexpr int simd_groups = 4;

template <typename T>
using Matrix = tensor<device T, dextents<int, 2>, tensor_inline>;
using Sums = tensor<threadgroup float, dextents<int, 2>, tensor_inline>;

// The positions from `first` on, and features or columns.
template <typename T>
inline Matrix<T> matrix_of(device T* elements, int first, int length, int features, constant long* strides) {
  const array<long, 2> steps = {strides[3], strides[2]};
  return Matrix<T>(elements + first * strides[2], dextents<int, 2>(features, length - first), steps);
}

template <typename T>
inline float mask_of(device const void* mask, constant AttentionParams& params, long offset) {
  if (params.mask_kind == 0) return 0.0f;
  if (params.mask_kind == 1) return static_cast<device const bool*>(mask)[offset] ? 0.0f : -INFINITY;
  return float(static_cast<device const T*>(mask)[offset]);
}

template <typename T, int rows, int columns>
kernel void attention(device T* result [[buffer(0)]], device T* query [[buffer(1)]], device T* key [[buffer(2)]],
                      device T* value [[buffer(3)]], device const void* mask [[buffer(4)]],
                      constant AttentionParams& params [[buffer(5)]], uint3 group [[threadgroup_position_in_grid]],
                      uint simd_group [[simdgroup_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float scores[rows * keys];
  threadgroup float sums[rows * columns];
  constexpr int own_rows = rows / simd_groups;  // of this SIMD group
  const int first_row = group.x * rows, first_own = first_row + simd_group * own_rows;
  const int batch = group.y / params.heads, head = group.y % params.heads;
  const int first_column = group.z * columns;
  query += batch * params.query[0] + head * params.query[1];
  key += batch * params.key[0] + head / params.heads_per_key * params.key[1];
  value += batch * params.value[0] + head / params.heads_per_value * params.value[1] + first_column * params.value[3];
  const long mask_begin = batch * params.mask[0] + head * params.mask[1];

  threadgroup float* own_scores = scores + simd_group * own_rows * keys;
  threadgroup float* own_sums = sums + simd_group * own_rows * columns;
  for (int i = lane; i < own_rows * columns; i += 32) own_sums[i] = 0.0f;
  // Sums of weights are those of a lane's keys until the end.
  float maximum[own_rows], total[own_rows], factor[own_rows];
  for (int i = 0; i < own_rows; ++i) {
    maximum[i] = -INFINITY;
    total[i] = 0.0f;
  }
  constexpr auto of_scores = matmul2d_descriptor(rows, keys, dynamic_length_v<int>, false, true, true);
  constexpr auto of_sums = matmul2d_descriptor(rows, columns, keys, false, false, true,
                                               matmul2d_descriptor::mode::multiply_accumulate);
  matmul2d<of_scores, execution_simdgroups<simd_groups>> multiply_keys;
  matmul2d<of_sums, execution_simdgroups<simd_groups>> multiply_values;
  Sums all_scores(scores, dextents<int, 2>(keys, rows)), all_sums(sums, dextents<int, 2>(columns, rows));
  auto queries = matrix_of(query, first_row, params.query_length, params.features, params.query);

  const int last_row = min(first_row + rows, params.query_length) - 1;
  const int end = params.is_causal ? min(params.key_length, last_row + 1) : params.key_length;
  for (int begin = 0; begin < end; begin += keys) {
    auto some_keys = matrix_of(key, begin, end, params.features, params.key);
    multiply_keys.run(queries, some_keys, all_scores);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    // Where no element is masked, scores are scaled as they are read.
    const bool is_whole = params.mask_kind == 0 && begin + keys <= end &&
                          (!params.is_causal || begin + keys - 1 <= first_own);
    if (!is_whole) {
#pragma clang loop unroll(disable)
      for (int i = 0; i < own_rows; ++i) {
        const int row = first_own + i;
        for (int j = lane; j < keys; j += 32) {
          const int position = begin + j;
          float score = -INFINITY;
          if (row < params.query_length && position < end && (!params.is_causal || position <= row)) {
            score = own_scores[i * keys + j] * params.scale +
                    mask_of<T>(mask, params, mask_begin + row * params.mask[2] + position * params.mask[3]);
          }
          own_scores[i * keys + j] = score;
        }
      }
    }
    const float scale = is_whole ? params.scale : 1.0f;
    // What lanes do together comes before anything is written: simdgroups need not take turns.
#pragma clang loop unroll(disable)
    for (int i = 0; i < own_rows; ++i) {
      float largest = -INFINITY;
      for (int j = 0; j < keys / 32; ++j) largest = max(largest, own_scores[i * keys + j * 32 + lane] * scale);
      largest = max(maximum[i], simd_max(largest));
      factor[i] = maximum[i] == largest ? 1.0f : exp(maximum[i] - largest);
      maximum[i] = largest;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma clang loop unroll(disable)
    for (int i = 0; i < own_rows; ++i) {
      // Where everything is masked so far no weight may become exp(-inf + inf).
      const float subtracted = maximum[i] == -INFINITY ? 0.0f : maximum[i];
      float sum = total[i] * factor[i];
      for (int j = 0; j < keys / 32; ++j) {
        const float weight = exp(own_scores[i * keys + j * 32 + lane] * scale - subtracted);
        sum += weight;
        own_scores[i * keys + j * 32 + lane] = weight;
      }
      total[i] = sum;
      for (int j = 0; j < columns / 32; ++j) own_sums[i * columns + j * 32 + lane] *= factor[i];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    auto some_values =
        matrix_of(value, begin, end, min(columns, params.value_features - first_column), params.value);
    multiply_values.run(all_scores, some_values, all_sums);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  result += batch * params.result[0] + head * params.result[1] + first_column * params.result[3];
#pragma clang loop unroll(disable)
  for (int i = 0; i < own_rows && first_own + i < params.query_length; ++i) {
    const float weights = simd_sum(total[i]);
    for (int j = lane; j < columns && first_column + j < params.value_features; j += 32) {
      // Where everything is masked there is no weight at all.
      const float sum = weights == 0.0f ? 0.0f : own_sums[i * columns + j] / weights;
      result[(first_own + i) * params.result[2] + j * params.result[3]] = T(sum);
    }
  }
}

#define ATTENTION(T, rows, columns)                                                                       \
  template [[host_name("attention_" #columns "_" #T)]] kernel void attention<T, rows, columns>(           \
      device T*, device T*, device T*, device T*, device const void*, constant AttentionParams&, uint3, uint, uint);
ATTENTION(float, 64, 64) ATTENTION(half, 64, 64) ATTENTION(bfloat, 64, 64)
ATTENTION(float, 32, 128) ATTENTION(half, 32, 128) ATTENTION(bfloat, 32, 128)
