// The greatest or least elements of rows, without sorting the rows. A simdgroup has a row: it finds the key of the last
// element that is taken bit by bit, by counting how many keys are not less, gathers those that are, and sorts these.
#include "ordered_keys.h"

#include <metal_stdlib>

using namespace metal;

constant constexpr uint most_taken = 256;

struct TopParams {
  uint size, count;  // of a row: its elements, and how many are taken
  bool largest;
};

// How many keys of a row are at least `least`.
template <typename T, typename Key>
inline uint count_from(const device T* row, uint size, Key flipped, Key least, uint lane) {
  uint count = 0;
  uint begin = 0;
  for (; begin + 32 <= size; begin += 32) count += (OrderedKey<T>::of(row[begin + lane]) ^ flipped) >= least;
  if (begin + lane < size) count += (OrderedKey<T>::of(row[begin + lane]) ^ flipped) >= least;
  return simd_sum(count);
}

template <typename T>
kernel void top_of_rows(
    device T* values [[buffer(0)]],
    const device T* input [[buffer(1)]],
    device long* indices [[buffer(2)]],
    constant TopParams& params [[buffer(3)]],
    uint row [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]]) {
  using Key = typename OrderedKey<T>::Key;
  constexpr uint bits = OrderedKey<T>::bits;
  threadgroup Key keys[most_taken];
  threadgroup uint places[most_taken];
  const uint size = params.size, wanted = params.count;
  // Keys of the least elements become the greatest.
  const Key flipped = params.largest ? Key(0) : Key(~Key(0)) >> (8 * sizeof(Key) - bits);
  input += ulong(row) * size;

  Key last = 0;
  for (uint bit = bits; bit-- > 0;) {
    const Key candidate = last | Key(1) << bit;
    const uint count = count_from(input, size, flipped, candidate, lane);
    if (count >= wanted) last = candidate;
    if (count == wanted) break;
  }
  // Of those that are equal to it the first are taken.
  const bool is_greatest = last == Key(~Key(0));
  const uint equal_ones = wanted - (is_greatest ? 0 : count_from(input, size, flipped, Key(last + 1), lane));

  const uint lanes_before = (1u << lane) - 1;
  uint taken = 0, equal_before = 0;
  for (uint begin = 0; begin < size; begin += 32) {
    const uint place = begin + lane;
    const bool is_inside = place < size;
    const Key key = is_inside ? OrderedKey<T>::of(input[place]) ^ flipped : Key(0);
    if (!simd_any(is_inside && key >= last)) continue;
    const bool is_equal = is_inside && key == last;
    const uint equal = uint(ulong(simd_ballot(is_equal)));
    const bool is_taken =
        is_inside && (key > last || (is_equal && equal_before + popcount(equal & lanes_before) < equal_ones));
    const uint all_taken = uint(ulong(simd_ballot(is_taken)));
    const uint to = taken + popcount(all_taken & lanes_before);
    if (is_taken) {
      keys[to] = key;
      places[to] = place;
    }
    taken += popcount(all_taken);
    equal_before += popcount(equal);
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);

  values += ulong(row) * wanted;
  indices += ulong(row) * wanted;
  for (uint i = lane; i < wanted; i += 32) {
    const Key key = keys[i];
    uint rank = 0;
    for (uint j = 0; j < wanted; ++j) rank += keys[j] > key || (keys[j] == key && j < i);
    values[rank] = input[places[i]];
    indices[rank] = places[i];
  }
}

#define TOP(T)                                                                                        \
  template [[host_name("top_of_rows_" #T)]] kernel void top_of_rows<T>(                               \
      device T*, const device T*, device long*, constant TopParams&, uint, uint);
TOP(float)
TOP(half)
TOP(bfloat)
TOP(long)
TOP(int)
TOP(short)
TOP(char)
TOP(uchar)
TOP(bool)
TOP(ushort)
TOP(uint)
TOP(ulong)
