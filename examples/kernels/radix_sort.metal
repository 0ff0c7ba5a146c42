// One pass of a radix sort: keys and their values, stably reordered by four bits ("the digit") of the keys. Eight
// passes, from the lowest bits to the highest, sort 32-bit keys: a stable pass keeps the order that the passes before
// it made.
//
// Each threadgroup takes a tile of the keys, one key per thread. Three kernels run one after the other:
//   histogram   counts the digits of every tile: counts[digit * tiles + tile];
//   prefix_sum  turns the counts into starts: how many keys come before a tile's keys of a digit. They are those with
//               a smaller digit, and those with the same digit in earlier tiles: all the counts that stand before in
//               that order, which is why the digit is the slow index;
//   scatter     writes each key to start + how many earlier keys of its own tile have the same digit.
//
// All threads of a tile reach every barrier, those behind the last key included.
//
//   metalloid run examples/kernels/radix_sort.metal --kernel histogram --threads 1024 --group 256
//       --arg counts=u32[16,4]=zeros --arg keys=u32[1000]=uniform --arg length=u32:1000 --arg shift=u32:0
#include <metal_stdlib>
using namespace metal;

constant constexpr uint digits = 16;
constant constexpr uint largest_simdgroups = 32;

uint digit_of(uint key, uint shift) { return (key >> shift) & (digits - 1); }

// The grid has tiles * (threads of a tile) threads.
kernel void histogram(device uint* counts [[buffer(0)]],  // digits x tiles
                      device const uint* keys [[buffer(1)]],
                      constant uint& length [[buffer(2)]],
                      constant uint& shift [[buffer(3)]],
                      uint position [[thread_position_in_grid]],
                      uint tile [[threadgroup_position_in_grid]],
                      uint tiles [[threadgroups_per_grid]],
                      uint thread_index [[thread_index_in_threadgroup]],
                      uint threads [[threads_per_threadgroup]]) {
  threadgroup atomic_uint tile_counts[digits];
  for (uint digit = thread_index; digit < digits; digit += threads) {
    atomic_store_explicit(&tile_counts[digit], 0u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  if (position < length) {
    atomic_fetch_add_explicit(&tile_counts[digit_of(keys[position], shift)], 1u, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (uint digit = thread_index; digit < digits; digit += threads) {
    counts[digit * tiles + tile] = atomic_load_explicit(&tile_counts[digit], memory_order_relaxed);
  }
}

// starts[i] = counts[0] + ... + counts[i - 1]. One threadgroup walks over all counts, as many at a time as it has
// threads, and carries the total along.
kernel void prefix_sum(device uint* starts [[buffer(0)]],
                       device const uint* counts [[buffer(1)]],
                       constant uint& length [[buffer(2)]],
                       uint thread_index [[thread_index_in_threadgroup]],
                       uint threads [[threads_per_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]],
                       uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup uint totals[largest_simdgroups];  // of the simdgroups

  uint carried = 0;
  for (uint start = 0; start < length; start += threads) {
    const uint i = start + thread_index;
    const uint count = i < length ? counts[i] : 0;
    const uint before_in_simdgroup = simd_prefix_exclusive_sum(count);
    const uint total = simd_sum(count);
    if (lane == 0) {
      totals[simdgroup] = total;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint before = carried + before_in_simdgroup;
    for (uint s = 0; s < simdgroups; ++s) {
      before += s < simdgroup ? totals[s] : 0;
      carried += totals[s];
    }
    if (i < length) {
      starts[i] = before;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);  // the next round overwrites the totals
  }
}

// The same grid as histogram's.
kernel void scatter(device uint* sorted_keys [[buffer(0)]],
                    device uint* sorted_values [[buffer(1)]],
                    device const uint* keys [[buffer(2)]],
                    device const uint* values [[buffer(3)]],
                    device const uint* starts [[buffer(4)]],  // digits x tiles
                    constant uint& length [[buffer(5)]],
                    constant uint& shift [[buffer(6)]],
                    uint position [[thread_position_in_grid]],
                    uint tile [[threadgroup_position_in_grid]],
                    uint tiles [[threadgroups_per_grid]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup uint simdgroup_counts[largest_simdgroups][digits];

  const bool has_key = position < length;
  const uint key = has_key ? keys[position] : 0;
  const uint digit = digit_of(key, shift);

  // Bit l of `same`: lane l has a key with this thread's digit. Built from one ballot for each bit of the digit.
  ulong same = ulong(simd_ballot(has_key));
  for (uint bit = 0; bit < 4; ++bit) {
    const bool is_set = (digit >> bit) & 1;
    const ulong set = ulong(simd_ballot(is_set));
    same &= is_set ? set : ~set;
  }
  const uint earlier_lanes = popcount(same & ((1ul << lane) - 1));

  // Lane 0 clears all counts: the last simdgroup may have fewer lanes than there are digits.
  if (lane == 0) {
    for (uint d = 0; d < digits; ++d) {
      simdgroup_counts[simdgroup][d] = 0;
    }
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  if (has_key && earlier_lanes == 0) {
    simdgroup_counts[simdgroup][digit] = popcount(same);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);

  if (has_key) {
    uint place = starts[digit * tiles + tile] + earlier_lanes;
    for (uint s = 0; s < simdgroup; ++s) {
      place += simdgroup_counts[s][digit];
    }
    if (place < length) {  // always, unless `starts` are wrong; then nothing else is damaged
      sorted_keys[place] = key;
      sorted_values[place] = values[position];
    }
  }
}
