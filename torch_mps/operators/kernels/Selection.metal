// Operators whose result depends on which elements are set: chunks are counted, counts become the chunks' first numbers,
// and each chunk writes. Also concatenation's neighbours: repeats and indices of triangles, backward of embedding.
#include <c10/metal/atomic.h>
#include <c10/metal/error.h>
#include <metal_stdlib>

using namespace metal;
using c10::metal::AtomicType;
using c10::metal::AtomicType_t;
using c10::metal::ErrorMessages;

constant constexpr uint chunk_length = 256;

template <typename T>
inline bool is_set(T value) {
  return value != T(0);
}
template <>
inline bool is_set(float2 value) {
  return any(value != 0);
}
template <>
inline bool is_set(half2 value) {
  return any(value != 0);
}

template <typename T>
kernel void count_set(
    const device T* input [[buffer(0)]],
    device long* counts [[buffer(1)]],
    constant long& numel [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]]) {
  const long begin = long(thread_index) * chunk_length, end = min(begin + chunk_length, numel);
  long count = 0;
  for (long i = begin; i < end; ++i) count += is_set(input[i]);
  counts[thread_index] = count;
}

// In one threadgroup: counts become the sums of those before; the total goes behind the last.
kernel void sum_before(
    device long* counts [[buffer(0)]],
    constant uint& size [[buffer(1)]],
    uint thread_index [[thread_position_in_threadgroup]],
    uint threads [[threads_per_threadgroup]]) {
  threadgroup long sums[1024];
  const uint length = (size + threads - 1) / threads;
  const uint begin = min(thread_index * length, size), end = min(begin + length, size);
  long sum = 0;
  for (uint i = begin; i < end; ++i) sum += counts[i];
  sums[thread_index] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (thread_index == 0) {
    long before = 0;
    for (uint i = 0; i < threads; ++i) {
      const long own = sums[i];
      sums[i] = before;
      before += own;
    }
    counts[size] = before;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  long before = sums[thread_index];
  for (uint i = begin; i < end; ++i) {
    const long own = counts[i];
    counts[i] = before;
    before += own;
  }
}

// Coordinates, a row each; at most `limit` rows.
template <typename T>
kernel void write_nonzero(
    const device T* input [[buffer(0)]],
    const device long* firsts [[buffer(1)]],
    device long* result [[buffer(2)]],
    constant long* sizes [[buffer(3)]],
    constant long3& numel_ndim_limit [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]]) {
  const long begin = long(thread_index) * chunk_length, end = min(begin + chunk_length, numel_ndim_limit.x);
  const long ndim = numel_ndim_limit.y;
  long row = firsts[thread_index];
  for (long i = begin; i < end && row < numel_ndim_limit.z; ++i) {
    if (!is_set(input[i])) continue;
    long rest = i;
    for (long dim = ndim; dim-- > 0;) {
      result[row * ndim + dim] = rest % sizes[dim];
      rest /= sizes[dim];
    }
    ++row;
  }
}

template <typename T>
kernel void masked_scatter(
    device T* self [[buffer(0)]],
    const device bool* mask [[buffer(1)]],
    const device T* source [[buffer(2)]],
    const device long* firsts [[buffer(3)]],
    constant long& numel [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]]) {
  const long begin = long(thread_index) * chunk_length, end = min(begin + chunk_length, numel);
  long next = firsts[thread_index];
  for (long i = begin; i < end; ++i) {
    if (mask[i]) self[i] = source[next++];
  }
}

// ends: of the places of each element
template <typename T>
kernel void repeat_interleave(
    device T* result [[buffer(0)]],
    const device T* repeats [[buffer(1)]],
    const device long* ends [[buffer(2)]],
    constant long& total [[buffer(3)]],
    device ErrorMessages* errors [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]]) {
  const long end = ends[thread_index];
  if (repeats[thread_index] < T(0) || end > total) {
    TORCH_REPORT_ERROR(errors, "repeats are negative, or their sum ", end, " is greater than the output size ", total);
    return;
  }
  for (long i = end - long(repeats[thread_index]); i < end; ++i) result[i] = T(thread_index);
}

// One thread a row. params: columns, offset, numel, whether it is the upper triangle.
template <typename T>
kernel void triangle_indices(
    device T* result [[buffer(0)]],
    constant long4& params [[buffer(1)]],
    constant long& rows [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]]) {
  const long columns = params.x, offset = params.y, row = thread_index;
  // Elements of the lower triangle in all rows before.
  const long first_row = max(0l, -offset);                                   // with one element, if offset <= 0
  const long full_row = max(0l, columns - offset);                           // from here on rows are full
  const long growing = clamp(row, first_row, max(full_row, first_row)) - first_row;
  const long start = max(0l, min(columns, first_row + offset + 1));          // elements of the first row
  long before = growing * start + growing * (growing - 1) / 2 + max(0l, row - max(full_row, first_row)) * columns;
  long begin = 0, end = clamp(row + offset + 1, 0l, columns);
  if (params.w != 0) {  // the others; offset is that of the lower triangle that is left out
    before = row * columns - before;
    begin = end;
    end = columns;
  }
  for (long column = begin; column < end; ++column) {
    result[before + column - begin] = T(row);
    result[params.z + before + column - begin] = T(column);
  }
}

template <typename I>
kernel void count_indices(
    device atomic<int>* counts [[buffer(0)]],
    const device I* indices [[buffer(1)]],
    constant long2& weights_and_padding [[buffer(2)]],
    uint thread_index [[thread_position_in_grid]]) {
  const long index = indices[thread_index];
  if (index >= 0 && index < weights_and_padding.x && index != weights_and_padding.y) {
    atomic_fetch_add_explicit(counts + index, 1, memory_order_relaxed);
  }
}

// params: features, weights, padding, whether gradients are divided by their number
template <typename T, typename I>
kernel void embedding_backward(
    device atomic<float>* result [[buffer(0)]],
    const device T* grad [[buffer(1)]],
    const device I* indices [[buffer(2)]],
    const device int* counts [[buffer(3)]],
    constant long4& params [[buffer(4)]],
    device ErrorMessages* errors [[buffer(5)]],
    uint2 position [[thread_position_in_grid]]) {
  const long index = indices[position.y];
  if (index == params.z) return;
  if (index < 0 || index >= params.y) {
    TORCH_REPORT_ERROR(errors, "index ", index, " is out of bounds for dimension 0 with size ", params.y);
    return;
  }
  float value = float(grad[long(position.y) * params.x + position.x]);
  if (params.w != 0) value /= float(counts[index]);
  atomic_fetch_add_explicit(result + (index * params.x + position.x), value, memory_order_relaxed);
}

#define SELECTION(T)                                                                                                 \
  template [[host_name("count_set_" #T)]] kernel void count_set<T>(const device T*, device long*, constant long&, uint); \
  template [[host_name("write_nonzero_" #T)]] kernel void write_nonzero<T>(                                          \
      const device T*, const device long*, device long*, constant long*, constant long3&, uint);
SELECTION(float)
SELECTION(half)
SELECTION(bfloat)
SELECTION(float2)
SELECTION(half2)
SELECTION(long)
SELECTION(int)
SELECTION(short)
SELECTION(char)
SELECTION(uchar)
SELECTION(bool)
SELECTION(ushort)
SELECTION(uint)
SELECTION(ulong)

#define MASKED(T, N)                                                                                                 \
  template [[host_name("masked_scatter_" #N)]] kernel void masked_scatter<T>(                                        \
      device T*, const device bool*, const device T*, const device long*, constant long&, uint);
MASKED(uchar, 1)
MASKED(ushort, 2)
MASKED(uint, 4)
MASKED(ulong, 8)

#define REPEATS(T)                                                                                                   \
  template [[host_name("repeat_interleave_" #T)]] kernel void repeat_interleave<T>(                                  \
      device T*, const device T*, const device long*, constant long&, device ErrorMessages*, uint);
REPEATS(long)
REPEATS(int)
REPEATS(short)
REPEATS(char)
REPEATS(uchar)

#define TRIANGLE(T)                                                                                                  \
  template [[host_name("triangle_indices_" #T)]] kernel void triangle_indices<T>(                                    \
      device T*, constant long4&, constant long&, uint);
TRIANGLE(float)
TRIANGLE(half)
TRIANGLE(bfloat)
TRIANGLE(long)
TRIANGLE(int)
TRIANGLE(short)
TRIANGLE(char)
TRIANGLE(uchar)

template [[host_name("count_indices_int")]] kernel void count_indices<int>(
    device atomic<int>*, const device int*, constant long2&, uint);
template [[host_name("count_indices_long")]] kernel void count_indices<long>(
    device atomic<int>*, const device long*, constant long2&, uint);
#define EMBEDDING(T, I)                                                                                              \
  template [[host_name("embedding_backward_" #T "_" #I)]] kernel void embedding_backward<T, I>(                      \
      device atomic<float>*, const device T*, const device I*, const device int*, constant long4&,                   \
      device ErrorMessages*, uint2);
EMBEDDING(float, int)
EMBEDDING(float, long)
EMBEDDING(half, int)
EMBEDDING(half, long)
EMBEDDING(bfloat, int)
EMBEDDING(bfloat, long)
