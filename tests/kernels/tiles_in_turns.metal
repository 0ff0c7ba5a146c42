// Tiles of threadgroup memory that are written anew in each turn of a loop, between two barriers. What a thread finds
// in them is compared with the memory that it comes from.
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

constant constexpr uint tile_size = 128;

// An odd number of turns, and an even one.
// RUN: --kernel barrier_in_front --threads 256 --group 128 --arg wrong=u32[256]=ones --arg x=u32[896]=arange --arg turns=u32:7
// EXPECT wrong: 0 x 256
// RUN: --kernel barrier_in_front --threads 256 --group 128 --arg wrong=u32[256]=ones --arg x=u32[896]=arange --arg turns=u32:4
// EXPECT wrong: 0 x 256
kernel void barrier_in_front(device uint* wrong, device const uint* x, constant uint& turns,
                             uint i [[thread_index_in_threadgroup]], uint thread_in_grid [[thread_position_in_grid]]) {
  threadgroup uint tile[tile_size];
  uint count = 0;
  for (uint turn = 0; turn < turns; ++turn) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    tile[i] = x[turn * tile_size + i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint other = (37 * i + turn) % tile_size;
    count += tile[other] != x[turn * tile_size + other];
  }
  wrong[thread_in_grid] = count;
}

// RUN: --kernel barrier_at_end --threads 256 --group 128 --arg wrong=u32[256]=ones --arg x=u32[896]=arange --arg turns=u32:7
// EXPECT wrong: 0 x 256
kernel void barrier_at_end(device uint* wrong, device const uint* x, constant uint& turns,
                           uint i [[thread_index_in_threadgroup]], uint thread_in_grid [[thread_position_in_grid]]) {
  threadgroup uint tile[tile_size];
  uint count = 0;
  for (uint turn = 0; turn < turns; ++turn) {
    tile[i] = x[turn * tile_size + i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint other = (37 * i + turn) % tile_size;
    count += tile[other] != x[turn * tile_size + other];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  wrong[thread_in_grid] = count;
}

// The loop is run several times, and what is in front of it meets what is behind it at its barriers only.
// RUN: --kernel often --threads 256 --group 128 --arg wrong=u32[256]=ones --arg x=u32[896]=arange --arg turns=u32:3 --arg times=u32:5
// EXPECT wrong: 0 x 256
kernel void often(device uint* wrong, device const uint* x, constant uint& turns, constant uint& times,
                  uint i [[thread_index_in_threadgroup]], uint thread_in_grid [[thread_position_in_grid]]) {
  threadgroup uint tile[tile_size], own[2][tile_size];
  uint count = 0;
  for (uint time = 0; time < times; ++time) {
    own[time % 2][i] = i + time;
    for (uint turn = 0; turn < turns; ++turn) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      tile[i] = x[turn * tile_size + i];
      threadgroup_barrier(mem_flags::mem_threadgroup);
      const uint other = (37 * i + turn) % tile_size;
      count += tile[other] != x[turn * tile_size + other];
    }
    const uint other = (53 * i + 1) % tile_size;
    count += own[time % 2][other] != other + time;
  }
  wrong[thread_in_grid] = count;
}

// In pieces of 16 bytes, and several times, with up to three turns and with more. Numbers are those of their places.
// RUN: --kernel pieces --threads 64 --group 64 --arg wrong=u32[64]=ones --arg x=u32[1800]=arange --arg first=u32:0 --arg turns=u32:7 --arg times=u32:1
// EXPECT wrong: 0 x 64
// RUN: --kernel pieces --threads 128 --group 64 --arg wrong=u32[128]=ones --arg x=u32[1800]=arange --arg first=u32:4 --arg turns=u32:4 --arg times=u32:2
// EXPECT wrong: 0 x 128
// RUN: --kernel pieces --threads 64 --group 64 --arg wrong=u32[64]=ones --arg x=u32[1800]=arange --arg first=u32:4 --arg turns=u32:1 --arg times=u32:5
// EXPECT wrong: 0 x 64
// RUN: --kernel pieces --threads 64 --group 64 --arg wrong=u32[64]=ones --arg x=u32[1800]=arange --arg first=u32:0 --arg turns=u32:2 --arg times=u32:3
// EXPECT wrong: 0 x 64
// RUN: --kernel pieces --threads 64 --group 64 --arg wrong=u32[64]=ones --arg x=u32[1800]=arange --arg first=u32:8 --arg turns=u32:3 --arg times=u32:3
// EXPECT wrong: 0 x 64
// RUN: --kernel pieces --threads 64 --group 64 --arg wrong=u32[64]=ones --arg x=u32[1800]=arange --arg first=u32:8 --arg turns=u32:0 --arg times=u32:3
// EXPECT wrong: 0 x 64
kernel void pieces(device uint* wrong, device const uint* x, constant uint& first, constant uint& turns,
                   constant uint& times, uint i [[thread_index_in_threadgroup]],
                   uint thread_in_grid [[thread_position_in_grid]]) {
  constexpr uint size = 4 * 64;
  threadgroup uint tile[size];
  const uint begin = first, end = first + size * turns;
  uint count = 0;
  for (uint time = 0; time < times; ++time) {
    for (uint place = begin; place < end; place += size) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      *(threadgroup uint4*)(tile + 4 * i % size) = *(device const uint4*)(x + place + 4 * i);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (uint j = 0; j < 4; ++j) {
        const uint other = (37 * i + 11 * j + place / size + time) % size;
        count += tile[other] != place + other;
      }
    }
  }
  wrong[thread_in_grid] = count;
}

// Half of the tile is written in the first turn only: it has to last.
// RUN: --kernel partly --threads 128 --group 128 --arg wrong=u32[128]=ones --arg x=u32[896]=arange --arg turns=u32:7
// EXPECT wrong: 0 x 128
kernel void partly(device uint* wrong, device const uint* x, constant uint& turns,
                   uint i [[thread_index_in_threadgroup]]) {
  threadgroup uint tile[2 * tile_size];
  uint count = 0;
  for (uint turn = 0; turn < turns; ++turn) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    tile[i] = x[turn * tile_size + i];
    if (turn == 0) tile[tile_size + i] = x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint other = (37 * i + turn) % tile_size;
    count += tile[other] != x[turn * tile_size + other];
    count += tile[tile_size + other] != x[other];
  }
  wrong[i] = count;
}

// A place of its own in each turn: all of them last.
// RUN: --kernel in_a_ring --threads 128 --group 128 --arg wrong=u32[128]=ones --arg x=u32[896]=arange --arg turns=u32:7
// EXPECT wrong: 0 x 128
kernel void in_a_ring(device uint* wrong, device const uint* x, constant uint& turns,
                      uint i [[thread_index_in_threadgroup]]) {
  threadgroup uint tiles[3][tile_size];
  uint count = 0;
  for (uint turn = 0; turn < turns; ++turn) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    tiles[turn % 3][i] = x[turn * tile_size + i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint other = (37 * i + turn) % tile_size, before = turn > 1 ? turn - 2 : 0;
    count += tiles[before % 3][other] != x[before * tile_size + other];
  }
  wrong[i] = count;
}

// Products of matrices, whose tiles are copied 16 bytes at a time.
// RUN: --kernel products --threads 256 --group 128 --arg wrong=u32[256]=ones --arg a=f16[64,96]=arange --arg b=f16[96,32]=arange
// EXPECT wrong: 0 x 256
kernel void products(device uint* wrong, device const half* a, device const half* b,
                     uint i [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]],
                     uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  constexpr uint size = 32, depth = 32, all = 96, row = depth + 8;
  threadgroup half left[size * row], right[depth * row];
  threadgroup float sums[size * size];
  simdgroup_float8x8 own[4];
  for (uint j = 0; j < 4; ++j) own[j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  // Small numbers: sums are exact in any order.
  const auto number = [](half large) { return half(int(large) % 7 - 3); };
  const uint y = i / 4, x = i % 4 * 8;
  for (uint start = 0; start < all; start += depth) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    *(threadgroup uint4*)(left + y * row + x) = *(device const uint4*)(a + (group * size + y) * all + start + x);
    *(threadgroup uint4*)(right + y * row + x) = *(device const uint4*)(b + (start + y) * size + x);
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (uint k = 0; k < depth; k += 8) {
      simdgroup_half8x8 l, r;
      simdgroup_load(l, left + 8 * simdgroup * row + k, row);
      for (uint e = 0; e < 2; ++e) l.thread_elements()[e] = number(l.thread_elements()[e]);
#pragma unroll
      for (uint j = 0; j < 4; ++j) {
        simdgroup_load(r, right + k * row + 8 * j, row);
        for (uint e = 0; e < 2; ++e) r.thread_elements()[e] = number(r.thread_elements()[e]);
        simdgroup_multiply_accumulate(own[j], l, r, own[j]);
      }
    }
  }
  for (uint j = 0; j < 4; ++j) simdgroup_store(own[j], sums + 8 * simdgroup * size + 8 * j, size);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint count = 0;
  for (uint at = i; at < size * size; at += 128) {
    float sum = 0;
    for (uint k = 0; k < all; ++k) {
      sum += float(number(a[(group * size + at / size) * all + k])) * float(number(b[k * size + at % size]));
    }
    count += sum != sums[at];
  }
  wrong[group * 128 + i] = count;
}
