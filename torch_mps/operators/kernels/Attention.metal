// softmax(scale * query @ key^T + mask) @ value in one pass over the keys: maximum and sum of each row follow along, and
// what was summed before is scaled when the maximum grows.
#include <metal_stdlib>

using namespace metal;

// Strides count elements: batch, head, position, feature.
struct AttentionParams {
  long query[4], key[4], value[4], mask[4], result[4];
  int heads, query_length, key_length, features, value_features;
  int heads_per_key, heads_per_value;
  float scale;
  int is_causal;
  int mask_kind;  // 0 none, 1 Boolean, 2 added
};

// A threadgroup has 16 rows of the result, 128 columns of them, and takes 32 keys at a time.
constant constexpr int rows = 16;
constant constexpr int keys = 32;
constant constexpr int threads = 128;

template <typename T>
inline float mask_of(device const void* mask, constant AttentionParams& params, long offset) {
  if (params.mask_kind == 0) return 0.0f;
  if (params.mask_kind == 1) return static_cast<device const bool*>(mask)[offset] ? 0.0f : -INFINITY;
  return float(static_cast<device const T*>(mask)[offset]);
}

template <typename T>
kernel void attention(device T* result [[buffer(0)]], device const T* query [[buffer(1)]],
                      device const T* key [[buffer(2)]], device const T* value [[buffer(3)]],
                      device const void* mask [[buffer(4)]], constant AttentionParams& params [[buffer(5)]],
                      uint3 group [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]],
                      uint simd_group [[simdgroup_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float scores[rows][keys];
  threadgroup float shrink[rows];  // what earlier sums are multiplied by
  threadgroup float totals[rows];
  const int first_row = group.x * rows, batch = group.y / params.heads, head = group.y % params.heads;
  const int column = group.z * threads + thread_index;
  query += batch * params.query[0] + head * params.query[1];
  key += batch * params.key[0] + head / params.heads_per_key * params.key[1];
  value += batch * params.value[0] + head / params.heads_per_value * params.value[1] + column * params.value[3];
  const long mask_begin = batch * params.mask[0] + head * params.mask[1];

  float sums[rows];
  float maximum[rows / 4], total[rows / 4];  // of the rows of this SIMD group
  for (int row = 0; row < rows; ++row) sums[row] = 0.0f;
  for (int i = 0; i < rows / 4; ++i) {
    maximum[i] = -INFINITY;
    total[i] = 0.0f;
  }
  const int last_row = min(first_row + rows, params.query_length) - 1;
  const int end = params.is_causal ? min(params.key_length, last_row + 1) : params.key_length;
  for (int begin = 0; begin < end; begin += keys) {
    for (int i = thread_index; i < rows * keys; i += threads) {
      const int row = first_row + i / keys, position = begin + i % keys;
      float score = -INFINITY;
      if (row < params.query_length && position < end && (!params.is_causal || position <= row)) {
        device const T* left = query + row * params.query[2];
        device const T* right = key + position * params.key[2];
        float product = 0.0f;
        for (int feature = 0; feature < params.features; ++feature) {
          product += float(left[feature * params.query[3]]) * float(right[feature * params.key[3]]);
        }
        score = product * params.scale +
                mask_of<T>(mask, params, mask_begin + row * params.mask[2] + position * params.mask[3]);
      }
      scores[i / keys][i % keys] = score;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = 0; i < rows / 4; ++i) {
      const int row = simd_group * (rows / 4) + i;
      const float score = scores[row][lane];
      const float largest = max(maximum[i], simd_max(score));
      const float factor = maximum[i] == largest ? 1.0f : exp(maximum[i] - largest);
      const float weight = score == -INFINITY ? 0.0f : exp(score - largest);
      total[i] = total[i] * factor + simd_sum(weight);
      maximum[i] = largest;
      scores[row][lane] = weight;
      if (lane == 0) shrink[row] = factor;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (column < params.value_features) {
      for (int row = 0; row < rows; ++row) sums[row] *= shrink[row];
      for (int i = 0; i < keys && begin + i < end; ++i) {
        const float element = float(value[(begin + i) * params.value[2]]);
        for (int row = 0; row < rows; ++row) sums[row] += scores[row][i] * element;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (lane == 0) {
    for (int i = 0; i < rows / 4; ++i) totals[simd_group * (rows / 4) + i] = total[i];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (column >= params.value_features) return;
  result += batch * params.result[0] + head * params.result[1] + column * params.result[3];
  for (int row = 0; row < rows && first_row + row < params.query_length; ++row) {
    // Where everything is masked there is no weight at all.
    const float sum = totals[row] == 0.0f ? 0.0f : sums[row] / totals[row];
    result[(first_row + row) * params.result[2]] = T(sum);
  }
}

#define ATTENTION(T)                                                                                           \
  template [[host_name("attention_" #T)]] kernel void attention<T>(                                            \
      device T*, device const T*, device const T*, device const T*, device const void*, constant AttentionParams&, \
      uint3, uint, uint, uint);
ATTENTION(float) ATTENTION(half) ATTENTION(bfloat)
