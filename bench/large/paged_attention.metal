// Attention of one query of each sequence to all keys before it, which lie in pages of a cache in any order. Four heads
// of queries share one of keys and values.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint head_size = 64, page_size = 16, simdgroups = 4, threads = 32 * simdgroups, longest = 1024;
constant constexpr uint queries_per_key = 4;

struct Shape {
  uint heads, pages_per_sequence;
  float scale;
};

struct Cache {
  device const half* values;
  device const uint* pages;  // of one sequence
  uint heads, head;

  device const half* token(uint position) const thread {
    const uint page = pages[position / page_size];
    return values + ((page * heads + head) * page_size + position % page_size) * head_size;
  }
};

static float largest_of_all(float x, threadgroup float* shared, uint simdgroup, uint lane) {
  x = simd_max(x);
  if (lane == 0) shared[simdgroup] = x;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float result = simd_max(lane < simdgroups ? shared[lane] : -INFINITY);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return result;
}

__attribute__((noinline)) float sum_of_all(float x, threadgroup float* shared, uint simdgroup, uint lane) {
  x = simd_sum(x);
  if (lane == 0) shared[simdgroup] = x;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float result = simd_sum(lane < simdgroups ? shared[lane] : 0.0f);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return result;
}

static float product(threadgroup const float* query, device const half* key, uint lane) {
  float sum = 0;
  for (uint i = lane; i < head_size; i += 32) sum = fma(query[i], float(key[i]), sum);
  return simd_sum(sum);
}

kernel void paged_attention(device float* results [[buffer(0)]], device const float* queries [[buffer(1)]],
                            device const half* keys [[buffer(2)]], device const half* values [[buffer(3)]],
                            device const uint* pages [[buffer(4)]], device const uint* lengths [[buffer(5)]],
                            constant Shape& shape [[buffer(6)]], uint2 group [[threadgroup_position_in_grid]],
                            uint thread_index [[thread_index_in_threadgroup]],
                            uint simdgroup [[simdgroup_index_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float query[head_size], weights[longest], shared[simdgroups], parts[threads];
  const uint sequence = group.y, head = group.x, length = lengths[sequence];
  const uint row = (sequence * shape.heads + head) * head_size;
  device const uint* own_pages = pages + sequence * shape.pages_per_sequence;
  const Cache key_cache = {keys, own_pages, shape.heads / queries_per_key, head / queries_per_key};
  const Cache value_cache = {values, own_pages, shape.heads / queries_per_key, head / queries_per_key};
  if (thread_index < head_size) query[thread_index] = queries[row + thread_index] * shape.scale;
  threadgroup_barrier(mem_flags::mem_threadgroup);

  float largest = -INFINITY;
  for (uint position = simdgroup; position < length; position += simdgroups) {
    const float score = product(query, key_cache.token(position), lane);
    if (lane == 0) weights[position] = score;
    largest = max(largest, score);
  }
  largest = largest_of_all(largest, shared, simdgroup, lane);
  float sum = 0;
  for (uint position = thread_index; position < length; position += threads) {
    weights[position] = exp(weights[position] - largest);
    sum += weights[position];
  }
  sum = sum_of_all(sum, shared, simdgroup, lane);

  // Two threads for each element, with every other token.
  const uint element = thread_index % head_size;
  float part = 0;
  for (uint position = thread_index / head_size; position < length; position += threads / head_size) {
    part = fma(weights[position], float(value_cache.token(position)[element]), part);
  }
  parts[thread_index] = part;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (thread_index < head_size) results[row + element] = (part + parts[thread_index + head_size]) / sum;
}
