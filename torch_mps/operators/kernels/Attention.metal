// softmax(scale * query @ key^T + mask) @ value in one pass over the keys, a thread for each row of the result: maximum
// and sum of its weights follow along, and what was summed before is scaled when the maximum grows. The threads of a
// simdgroup have rows of one head, so that they share each element of keys and values.
#include <metal_stdlib>

using namespace metal;

// Strides count elements: batch, head, position. Features lie side by side.
struct AttentionParams {
  long query[3], key[3], value[3], mask[4], result[3];
  int heads, query_length, key_length, features, value_features;
  int heads_per_key, heads_per_value;
  float scale;
  int is_causal;
  int mask_kind;  // 0 none, 1 Boolean, 2 added
};

constant constexpr int lanes = 32;
constant constexpr int most_features = 512;  // as the host's
constant constexpr int keys = 64;            // so many at a time
constant constexpr int side_by_side = 8;     // sums in registers

// Keys that are multiplied at a time. Their rows are so far apart that they meet nowhere in a cache.
using Tile = float[side_by_side][most_features + 16];

// Products of a row with `side_by_side` keys.
inline void multiply_keys(thread float (&sums)[side_by_side], thread const float* row, threadgroup Tile& tile,
                          int features) {
  for (int i = 0; i < side_by_side; ++i) sums[i] = 0.0f;
  for (int feature = 0; feature < features; ++feature) {
    const float factor = row[feature];
#pragma unroll
    for (int i = 0; i < side_by_side; ++i) sums[i] = fma(tile[i][feature], factor, sums[i]);
  }
}

template <int count, typename T>
inline void add_values(thread float* sums, float scale, thread const float* weights, device const T* value,
                       long distance, int positions) {
  float own[count];  // in registers
  for (int i = 0; i < count; ++i) own[i] = sums[i] * scale;
  for (int j = 0; j < positions; ++j) {
    const float weight = weights[j];
#pragma unroll
    for (int i = 0; i < count; ++i) own[i] = fma(float(value[i]), weight, own[i]);
    value += distance;
  }
  for (int i = 0; i < count; ++i) sums[i] = own[i];
}

template <typename T>
inline float mask_of(device const void* mask, constant AttentionParams& params, long offset) {
  if (params.mask_kind == 1) return static_cast<device const bool*>(mask)[offset] ? 0.0f : -INFINITY;
  return float(static_cast<device const T*>(mask)[offset]) * M_LOG2E_F;
}

template <typename T>
kernel void attention(device T* result [[buffer(0)]], device const T* query [[buffer(1)]],
                      device const T* key [[buffer(2)]], device const T* value [[buffer(3)]],
                      device const void* mask [[buffer(4)]], constant AttentionParams& params [[buffer(5)]],
                      uint3 group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  const int first_row = group.x * lanes, last_row = min(first_row + lanes, params.query_length) - 1;
  // Where rows are missing the last one is computed again.
  const int row = min(first_row + int(lane), last_row);
  const int batch = group.y / params.heads, head = group.y % params.heads;
  query += batch * params.query[0] + head * params.query[1] + row * params.query[2];
  key += batch * params.key[0] + head / params.heads_per_key * params.key[1];
  value += batch * params.value[0] + head / params.heads_per_value * params.value[1];
  const long mask_begin = batch * params.mask[0] + head * params.mask[1] + row * params.mask[2];
  const int features = params.features, value_features = params.value_features;

  threadgroup Tile tile;
  // Powers of two take less than those of e.
  float own[most_features], sums[most_features], weights[keys];
  const float scale = params.scale * M_LOG2E_F;
  for (int i = 0; i < features; ++i) own[i] = float(query[i]) * scale;
  for (int i = 0; i < value_features; ++i) sums[i] = 0.0f;
  float maximum = -INFINITY, total = 0.0f;

  const int end = params.is_causal ? min(params.key_length, last_row + 1) : params.key_length;
  for (int begin = 0; begin < end; begin += keys) {
    const int count = min(keys, end - begin);
    const bool masks = params.mask_kind != 0 || (params.is_causal && begin + count - 1 > first_row);
    float largest = maximum;
    for (int j = 0; j < count; j += side_by_side) {
      // Keys behind the end are the last one again.
      simdgroup_barrier(mem_flags::mem_threadgroup);
#pragma clang loop unroll(disable)
      for (int i = 0; i < side_by_side; ++i) {
        device const T* one = key + min(begin + j + i, end - 1) * params.key[2];
        for (int feature = lane; feature < features; feature += lanes) tile[i][feature] = float(one[feature]);
      }
      simdgroup_barrier(mem_flags::mem_threadgroup);
      float scores[side_by_side];
      multiply_keys(scores, own, tile, features);
      if (masks) {
        for (int i = 0; i < side_by_side; ++i) {
          const int position = begin + j + i;
          if (params.mask_kind != 0 && position < end) {
            scores[i] += mask_of<T>(mask, params, mask_begin + position * params.mask[3]);
          }
          if (position >= end || (params.is_causal && position > row)) scores[i] = -INFINITY;
        }
      }
      for (int i = 0; i < side_by_side; ++i) {
        largest = max(largest, scores[i]);
        weights[j + i] = scores[i];
      }
    }
    // Where everything is masked so far no weight may become exp(-inf + inf).
    const float subtracted = largest == -INFINITY ? 0.0f : largest;
    const float factor = exp2(maximum - subtracted);
    maximum = largest;
    total *= factor;
    for (int j = 0; j < count; ++j) {
      const float weight = exp2(weights[j] - subtracted);
      total += weight;
      weights[j] = weight;
    }
    device const T* some = value + begin * params.value[2];
    int first = 0;
    for (; first + side_by_side <= value_features; first += side_by_side) {
      add_values<side_by_side>(sums + first, factor, weights, some + first, params.value[2], count);
    }
    for (; first < value_features; ++first) {
      add_values<1>(sums + first, factor, weights, some + first, params.value[2], count);
    }
  }
  if (first_row + int(lane) > last_row) return;
  result += batch * params.result[0] + head * params.result[1] + row * params.result[2];
  // Where everything is masked there is no weight at all.
  const float part = total == 0.0f ? 0.0f : 1.0f / total;
  for (int i = 0; i < value_features; ++i) result[i] = T(sums[i] * part);
}

#define ATTENTION(T)                                                                                            \
  template [[host_name("attention_" #T)]] kernel void attention<T>(                                             \
      device T*, device const T*, device const T*, device const T*, device const void*, constant AttentionParams&, \
      uint3, uint);
ATTENTION(float) ATTENTION(half) ATTENTION(bfloat)
