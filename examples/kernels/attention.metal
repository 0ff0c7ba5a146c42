// Attention: out = softmax(scale * q k^T) v, with any of: a causal mask, a sliding window, grouped queries.
//
// q and out are (batch, query heads, query length, head size), k and v are (batch, key heads, key length, head size),
// all row-major. With fewer key heads than query heads, neighbouring query heads share one ("grouped-query"; one key
// head for all is "multi-query"). The last query stands at the last key, so that one query can follow a long cache.
// A causal query sees no key after its own place; with a window w > 0, it sees keys less than w places away.
//
// One threadgroup computes one row of the result, one block of keys after the other, with as many keys in a block as
// the threadgroup has threads:
//   1. each thread computes the score of one key;
//   2. the threadgroup finds the block's largest score and the weights exp(score - largest);
//   3. each thread adds up the weighted values for some elements of the row.
// The whole row's largest score is known only at the end ("online softmax"): whenever a block brings a larger one, what
// was added up so far is multiplied by exp(old largest - new largest). Each thread keeps its elements to itself until
// the end, and no two threads ever write to the same place of device memory.
//
// Written to be read. A faster kernel lets several queries share the keys and values that it loads.
//
//   metalloid run examples/kernels/attention.metal --kernel attention_float --threadgroups 40 --group 64
//       --arg out=f32[1,4,10,32]=zeros --arg q=f32[1,4,10,32]=normal --arg k=f32[1,2,10,32]=normal
//       --arg v=f32[1,2,10,32]=normal --arg query_heads=u32:4 --arg key_heads=u32:2 --arg query_length=u32:10
//       --arg key_length=u32:10 --arg head_size=u32:32 --arg causal=u32:1 --arg window=u32:0 --arg scale=f32:0.1768
#include <metal_stdlib>
using namespace metal;

// Infinity is a number here like others; fast math mode would allow the compiler to assume that there is none.
#pragma METAL fp math_mode(safe)

constant constexpr uint largest_head_size = 256;
constant constexpr uint smallest_threadgroup = 32;
constant constexpr uint largest_threadgroup = 1024;
constant constexpr uint elements_per_thread = largest_head_size / smallest_threadgroup;  // at most

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
  value = scratch[0];
  for (uint i = 1; i < simdgroups; ++i) {
    value = Operation::of_two(value, scratch[i]);
  }
  return value;
}

// Threadgroups have 32 to 1024 threads; head_size is at most 256.
template <typename T>
[[kernel]] void attention(device T* out [[buffer(0)]],
                          device const T* q [[buffer(1)]],
                          device const T* k [[buffer(2)]],
                          device const T* v [[buffer(3)]],
                          constant uint& query_heads [[buffer(4)]],
                          constant uint& key_heads [[buffer(5)]],
                          constant uint& query_length [[buffer(6)]],
                          constant uint& key_length [[buffer(7)]],
                          constant uint& head_size [[buffer(8)]],
                          constant uint& causal [[buffer(9)]],
                          constant uint& window [[buffer(10)]],
                          constant float& scale [[buffer(11)]],
                          uint row [[threadgroup_position_in_grid]],
                          uint thread_index [[thread_index_in_threadgroup]],
                          uint threads [[threads_per_threadgroup]],
                          uint lane [[thread_index_in_simdgroup]],
                          uint simdgroup [[simdgroup_index_in_threadgroup]],
                          uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float query[largest_head_size];
  threadgroup float weights[largest_threadgroup];
  threadgroup float scratch[32];

  const uint head = row / query_length % query_heads;
  const uint batch = row / query_length / query_heads;
  const size_t key_rows = (size_t(batch) * key_heads + head / (query_heads / key_heads)) * key_length;
  device const T* keys = k + key_rows * head_size;
  device const T* values = v + key_rows * head_size;

  for (uint d = thread_index; d < head_size; d += threads) {
    query[d] = float(q[size_t(row) * head_size + d]) * scale;
  }

  // The keys that this row sees are those from first to last - 1: the same for all threads, so that all of them go
  // through the loop below, and its barriers, equally often.
  const int place = int(key_length) - int(query_length) + int(row % query_length);
  const int first = window > 0 ? max(place - int(window) + 1, 0) : 0;
  int last = causal ? place + 1 : int(key_length);
  if (window > 0) {
    last = min(last, place + int(window));
  }

  float largest = -INFINITY, sum = 0;
  float elements[elements_per_thread] = {};  // of the row, at thread_index, thread_index + threads, ...
  for (int start = first; start < last; start += int(threads)) {
    const int count = min(last - start, int(threads));
    threadgroup_barrier(mem_flags::mem_threadgroup);  // `query` is written, the last block's `weights` are read
    float score = -INFINITY;
    if (int(thread_index) < count) {
      device const T* key = keys + size_t(start + int(thread_index)) * head_size;
      score = 0;
      for (uint d = 0; d < head_size; ++d) {
        score = fma(query[d], float(key[d]), score);
      }
    }
    const float new_largest = max(largest, reduce<Maximum>(score, scratch, lane, simdgroup, simdgroups));
    const float weight = exp(score - new_largest);     // 0 in threads without a key
    const float rescale = exp(largest - new_largest);  // 0 in the first block
    largest = new_largest;
    weights[thread_index] = weight;
    // The barriers inside also make all weights visible.
    sum = sum * rescale + reduce<Sum>(weight, scratch, lane, simdgroup, simdgroups);

    for (uint i = 0; i < elements_per_thread; ++i) {
      const uint d = thread_index + i * threads;
      if (d < head_size) {
        float element = elements[i] * rescale;
        for (int j = 0; j < count; ++j) {
          element = fma(weights[j], float(values[size_t(start + j) * head_size + d]), element);
        }
        elements[i] = element;
      }
    }
  }

  for (uint i = 0; i < elements_per_thread; ++i) {
    const uint d = thread_index + i * threads;
    if (d < head_size) {
      out[size_t(row) * head_size + d] = T(first < last ? elements[i] / sum : 0.0f);  // zero if it sees no key
    }
  }
}

template [[host_name("attention_float")]] [[kernel]] decltype(attention<float>) attention<float>;
template [[host_name("attention_half")]] [[kernel]] decltype(attention<half>) attention<half>;
template [[host_name("attention_bfloat")]] [[kernel]] decltype(attention<bfloat>) attention<bfloat>;
