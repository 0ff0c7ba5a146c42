// Sorting by merging: runs of a few elements are sorted by one thread each, or runs of up to thousands by a simdgroup, then
// pairs of runs are merged, every thread making a few elements of the result (merge path). Stable; not-a-number is
// greater than everything. Also what follows from sorted rows: medians, distinct elements, places of values.
#include "ordered_keys.h"

#include <metal_stdlib>

using namespace metal;

constant constexpr uint run_length = 16;

template <typename T>
inline bool is_nan(T value) {
  return value != value;
}

template <typename T>
inline bool comes_before(T a, T b, bool descending) {
  return descending ? a > b || (is_nan(a) && !is_nan(b)) : a < b || (is_nan(b) && !is_nan(a));
}
template <>
inline bool comes_before(bool a, bool b, bool descending) {
  return descending ? a && !b : b && !a;
}

// sizes: elements of a row, threads of a row
template <typename T>
kernel void sort_runs(
    const device T* input [[buffer(0)]],
    device T* keys [[buffer(1)]],
    device long* indices [[buffer(2)]],
    constant uint2& sizes [[buffer(3)]],
    constant bool& descending [[buffer(4)]],
    uint thread_index [[thread_position_in_grid]]) {
  const ulong row = ulong(thread_index / sizes.y) * sizes.x;
  const uint begin = thread_index % sizes.y * run_length;
  const uint end = min(begin + run_length, sizes.x);
  for (uint i = begin; i < end; ++i) {
    const T key = input[row + i];
    uint place = i;
    for (; place > begin && comes_before(key, keys[row + place - 1], descending); --place) {
      keys[row + place] = keys[row + place - 1];
      indices[row + place] = indices[row + place - 1];
    }
    keys[row + place] = key;
    indices[row + place] = i;
  }
}

// One step of a bitonic network within a simdgroup: lanes whose numbers differ by `distance` get the less and the greater.
inline ulong order_lanes(ulong item, ushort distance, uint lane) {
  const ulong other = simd_shuffle_xor(item, distance);
  return (lane & distance) != 0 ? max(item, other) : min(item, other);
}

// What a bitonic sequence of 32 becomes.
inline ulong order_bitonic(ulong item, uint lane) {
  item = order_lanes(item, 16, lane);
  item = order_lanes(item, 8, lane);
  item = order_lanes(item, 4, lane);
  item = order_lanes(item, 2, lane);
  return order_lanes(item, 1, lane);
}

// The first step of merging two ascending halves of a run of `length` lanes: each lane with its mirror image.
inline ulong order_mirrored(ulong item, ushort length, uint lane) {
  const ulong other = simd_shuffle_xor(item, ushort(length - 1));
  return (lane & (length / 2)) != 0 ? max(item, other) : min(item, other);
}

inline ulong sort_lanes(ulong item, uint lane) {
  item = order_lanes(item, 1, lane);
  item = order_mirrored(item, 4, lane);
  item = order_lanes(item, 1, lane);
  item = order_mirrored(item, 8, lane);
  item = order_lanes(item, 2, lane);
  item = order_lanes(item, 1, lane);
  item = order_mirrored(item, 16, lane);
  item = order_lanes(item, 4, lane);
  item = order_lanes(item, 2, lane);
  item = order_lanes(item, 1, lane);
  item = order_mirrored(item, 32, lane);
  item = order_lanes(item, 8, lane);
  item = order_lanes(item, 4, lane);
  item = order_lanes(item, 2, lane);
  return order_lanes(item, 1, lane);
}

// A simdgroup sorts a run of up to `most` elements by a bitonic network, as integers of 64 bits: the key, and below it the
// element's place in the run, which makes it stable. sizes: elements of a row, runs of a row, elements of a run
template <typename T, uint most>
kernel void sort_long_runs(
    const device T* input [[buffer(0)]],
    device T* keys [[buffer(1)]],
    device long* indices [[buffer(2)]],
    constant uint3& sizes [[buffer(3)]],
    constant bool& descending [[buffer(4)]],
    uint group [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  threadgroup ulong items[most];
  const uint first = group % sizes.y * sizes.z, size = min(sizes.x - first, sizes.z);
  const ulong begin = ulong(group / sizes.y) * sizes.x + first;
  input += begin;
  keys += begin;
  indices += begin;
  uint padded = 32;  // to a power of two
  while (padded < size) padded *= 2;
  const uint flipped = descending ? ~0u : 0u;
  for (uint at = 0; at < padded; at += 32) {
    const uint place = at + lane;
    const ulong item = place < size ? ulong(OrderedKey<T>::of(input[place]) ^ flipped) << 32 | place : ~0ul;
    items[place] = sort_lanes(item, lane);
  }
  for (uint length = 64; length <= padded; length *= 2) {
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (uint run = 0; run < padded; run += length) {  // with the mirror image of its second half
      for (uint at = 0; at < length / 2; at += 32) {
        threadgroup ulong& low = items[run + at + lane];
        threadgroup ulong& high = items[run + length - 32 - at + lane];
        const ulong a = low, b = simd_shuffle_xor(high, 31);
        low = min(a, b);
        high = simd_shuffle_xor(max(a, b), 31);
      }
    }
    for (uint distance = length / 4; distance >= 32; distance /= 2) {
      simdgroup_barrier(mem_flags::mem_threadgroup);
      for (uint run = 0; run < padded; run += 2 * distance) {
        for (uint at = run; at < run + distance; at += 32) {
          threadgroup ulong& low = items[at + lane];
          threadgroup ulong& high = items[at + distance + lane];
          const ulong a = low, b = high;
          low = min(a, b);
          high = max(a, b);
        }
      }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (uint at = 0; at < padded; at += 32) items[at + lane] = order_bitonic(items[at + lane], lane);
  }
  for (uint at = lane; at < size; at += 32) {  // what the lane has written itself
    const uint place = uint(items[at]);
    keys[at] = input[place];
    indices[at] = first + place;
  }
}

// sizes: elements of a row, threads of a row, elements of a run
template <typename T>
kernel void merge_runs(
    const device T* keys [[buffer(0)]],
    const device long* indices [[buffer(1)]],
    device T* merged_keys [[buffer(2)]],
    device long* merged_indices [[buffer(3)]],
    constant uint3& sizes [[buffer(4)]],
    constant bool& descending [[buffer(5)]],
    uint thread_index [[thread_position_in_grid]]) {
  const ulong row = ulong(thread_index / sizes.y) * sizes.x;
  const uint begin = thread_index % sizes.y * run_length;
  const uint first = begin / (2 * sizes.z) * (2 * sizes.z);
  const uint second = min(first + sizes.z, sizes.x), end = min(second + sizes.z, sizes.x);
  const device T* a = keys + row + first;
  const device T* b = keys + row + second;
  const uint size_of_a = second - first, size_of_b = end - second, before = begin - first;
  // How many of the elements before come from a.
  uint low = before > size_of_b ? before - size_of_b : 0, high = min(before, size_of_a);
  while (low < high) {
    const uint middle = (low + high) / 2;
    const bool is_taken = !comes_before(b[before - 1 - middle], a[middle], descending);
    low = is_taken ? middle + 1 : low;
    high = is_taken ? high : middle;
  }
  uint from_a = low, from_b = before - low;
  for (uint i = begin; i < min(begin + run_length, end); ++i) {
    const bool takes_a = from_a < size_of_a && (from_b >= size_of_b || !comes_before(b[from_b], a[from_a], descending));
    const ulong from = row + (takes_a ? first + from_a : second + from_b);
    from_a += takes_a;
    from_b += !takes_a;
    merged_keys[row + i] = keys[from];
    merged_indices[row + i] = indices[from];
  }
}

// Of each sorted row; elements of a row.
template <typename T>
kernel void median_of_sorted(
    const device T* keys [[buffer(0)]],
    const device long* indices [[buffer(1)]],
    device T* values [[buffer(2)]],
    device long* places [[buffer(3)]],
    constant uint& size [[buffer(4)]],
    constant bool& ignores_nan [[buffer(5)]],
    uint thread_index [[thread_position_in_grid]]) {
  const ulong row = ulong(thread_index) * size;
  uint low = 0, high = size;  // the first that is no number
  while (low < high) {
    const uint middle = (low + high) / 2;
    const bool is_number = !is_nan(keys[row + middle]);
    low = is_number ? middle + 1 : low;
    high = is_number ? high : middle;
  }
  uint place = (size - 1) / 2;
  if (ignores_nan) {
    place = low == 0 ? 0 : (low - 1) / 2;
  } else if (low < size) {
    place = low;
  }
  values[thread_index] = keys[row + place];
  places[thread_index] = indices[row + place];
}

// Whether an element differs from the one before.
template <typename T>
kernel void mark_distinct(
    const device T* sorted [[buffer(0)]],
    device int* marks [[buffer(1)]],
    uint thread_index [[thread_position_in_grid]]) {
  marks[thread_index] = thread_index == 0 || sorted[thread_index] != sorted[thread_index - 1];
}

// numbers: how many marks there are up to an element; starts has an element more than there are distinct ones.
template <typename T>
kernel void collect_distinct(
    const device T* sorted [[buffer(0)]],
    const device long* indices [[buffer(1)]],
    const device long* numbers [[buffer(2)]],
    device T* distinct [[buffer(3)]],
    device long* inverse [[buffer(4)]],
    device long* starts [[buffer(5)]],
    constant uint& size [[buffer(6)]],
    uint thread_index [[thread_position_in_grid]]) {
  const long number = numbers[thread_index] - 1;
  const bool is_first = thread_index == 0 || number != numbers[thread_index - 1] - 1;
  if (is_first) {
    distinct[number] = sorted[thread_index];
    starts[number] = thread_index;
  }
  if (thread_index == size - 1) starts[number + 1] = size;
  inverse[indices[thread_index]] = number;
}

// Where a value goes in its row of sorted boundaries. sizes: boundaries of a row, values of a row (0: one row for all)
template <typename T, typename I>
kernel void search_sorted(
    device I* result [[buffer(0)]],
    const device T* values [[buffer(1)]],
    const device T* boundaries [[buffer(2)]],
    const device long* sorter [[buffer(3)]],
    constant uint2& sizes [[buffer(4)]],
    constant uchar2& right_and_sorter [[buffer(5)]],
    uint thread_index [[thread_position_in_grid]]) {
  const ulong row = sizes.y == 0 ? 0 : ulong(thread_index / sizes.y) * sizes.x;
  const T value = values[thread_index];
  uint low = 0, high = sizes.x;
  while (low < high) {
    const uint middle = (low + high) / 2;
    const T boundary = boundaries[row + (right_and_sorter.y ? uint(sorter[row + middle]) : middle)];
    const bool is_after = right_and_sorter.x ? !(boundary > value) : !(boundary >= value);
    low = is_after ? middle + 1 : low;
    high = is_after ? high : middle;
  }
  result[thread_index] = I(low);
}

#define SORTING(T)                                                                                                \
  template [[host_name("sort_runs_" #T)]] kernel void sort_runs<T>(                                               \
      const device T*, device T*, device long*, constant uint2&, constant bool&, uint);                           \
  template [[host_name("merge_runs_" #T)]] kernel void merge_runs<T>(                                             \
      const device T*, const device long*, device T*, device long*, constant uint3&, constant bool&, uint);       \
  template [[host_name("median_of_sorted_" #T)]] kernel void median_of_sorted<T>(                                 \
      const device T*, const device long*, device T*, device long*, constant uint&, constant bool&, uint);        \
  template [[host_name("mark_distinct_" #T)]] kernel void mark_distinct<T>(const device T*, device int*, uint);   \
  template [[host_name("collect_distinct_" #T)]] kernel void collect_distinct<T>(                                 \
      const device T*, const device long*, const device long*, device T*, device long*, device long*,             \
      constant uint&, uint);                                                                                      \
  template [[host_name("search_sorted_" #T "_int")]] kernel void search_sorted<T, int>(                           \
      device int*, const device T*, const device T*, const device long*, constant uint2&, constant uchar2&, uint); \
  template [[host_name("search_sorted_" #T "_long")]] kernel void search_sorted<T, long>(                         \
      device long*, const device T*, const device T*, const device long*, constant uint2&, constant uchar2&, uint);

#define SORT_LONG_RUNS(T)                                                                                         \
  template [[host_name("sort_runs_of_1024_" #T)]] kernel void sort_long_runs<T, 1024>(                            \
      const device T*, device T*, device long*, constant uint3&, constant bool&, uint, uint);                     \
  template [[host_name("sort_runs_of_4096_" #T)]] kernel void sort_long_runs<T, 4096>(                            \
      const device T*, device T*, device long*, constant uint3&, constant bool&, uint, uint);

SORT_LONG_RUNS(float)
SORT_LONG_RUNS(half)
SORT_LONG_RUNS(bfloat)
SORT_LONG_RUNS(int)
SORT_LONG_RUNS(short)
SORT_LONG_RUNS(char)
SORT_LONG_RUNS(uchar)
SORT_LONG_RUNS(bool)
SORT_LONG_RUNS(ushort)
SORT_LONG_RUNS(uint)

SORTING(float)
SORTING(half)
SORTING(bfloat)
SORTING(long)
SORTING(int)
SORTING(short)
SORTING(char)
SORTING(uchar)
SORTING(bool)
SORTING(ushort)
SORTING(uint)
SORTING(ulong)
