// y = x * transposed(W) with W in 4 bits: four simdgroups compute 32 x 32 elements by simdgroup matrices, from tiles in
// threadgroup memory.
#include "quantised.h"

using namespace metal;

constant constexpr uint tile = 32, fragments = 2;

struct Sizes {
  uint rows, columns, depth;
};

using Tile = threadgroup half[tile * block_size];

static void load_rows(Tile& to, device const half* x, uint depth, uint thread_index) {
  for (uint i = thread_index; i < tile * block_size; i += 128) to[i] = x[i / block_size * depth + i % block_size];
}

kernel void quantised_product(device float* y [[buffer(0)]], device const half* x [[buffer(1)]],
                              device const Block* weights [[buffer(2)]], constant Sizes& sizes [[buffer(3)]],
                              uint2 group [[threadgroup_position_in_grid]],
                              uint thread_index [[thread_index_in_threadgroup]],
                              uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup half left[tile * block_size], right[tile * block_size];
  const uint row = group.y * tile, column = group.x * tile, blocks = sizes.depth / block_size;
  const uint own_row = simdgroup / 2 * 16, own_column = simdgroup % 2 * 16;
  simdgroup_matrix<float, 8, 8> sums[fragments][fragments];
  for (uint i = 0; i < fragments; ++i) {
    for (uint j = 0; j < fragments; ++j) sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  }
  for (uint block = 0; block < blocks; ++block) {
    load_rows(left, x + row * sizes.depth + block * block_size, sizes.depth, thread_index);
    if (thread_index < tile) {
      unpack(weights[(column + thread_index) * blocks + block], right + thread_index * block_size);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < block_size; k += 8) {
      simdgroup_matrix<half, 8, 8> of_left[fragments], of_right[fragments];
      for (uint i = 0; i < fragments; ++i) {
        simdgroup_load(of_left[i], left, block_size, ulong2(k, own_row + 8 * i));
        simdgroup_load(of_right[i], right, block_size, ulong2(k, own_column + 8 * i), true);
      }
      for (uint i = 0; i < fragments; ++i) {
        for (uint j = 0; j < fragments; ++j) {
          simdgroup_multiply_accumulate(sums[i][j], of_left[i], of_right[j], sums[i][j]);
        }
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  for (uint i = 0; i < fragments; ++i) {
    for (uint j = 0; j < fragments; ++j) {
      simdgroup_store(sums[i][j], y, sizes.columns, ulong2(column + own_column + 8 * j, row + own_row + 8 * i));
    }
  }
}
