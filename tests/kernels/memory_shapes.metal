// What lanes read that lie apart in memory: blocks of quantised weights, vectors with gaps, columns, places anywhere.
// Bytes and words count up from zero, so that each thread knows what it should find.
#include <metal_stdlib>
using namespace metal;

struct Block {
  ushort scale;
  uchar packed[16];
};

uint byte_at(uint place) { return place % 256; }
uint short_at(uint place) { return byte_at(place) | byte_at(place + 1) << 8; }

// A thread reads whole blocks.
// RUN: --kernel blocks --threads 96 --group 96 --arg wrong=u32[96]=zeros --arg blocks=u8[3600]=arange --arg count=192
// EXPECT wrong: 0 x 96
// ENGINE: simd
// RUN: --kernel blocks --threads 45 --group 45 --arg wrong=u32[96]=zeros --arg blocks=u8[3600]=arange --arg count=77
// EXPECT wrong: 0 x 96
// RUN: --kernel blocks --threads 8,12 --group 8,12 --arg wrong=u32[96]=zeros --arg blocks=u8[3600]=arange --arg count=200
// EXPECT wrong: 0 x 96
kernel void blocks(device uint* wrong, device const Block* blocks, constant uint& count,
                   uint i [[thread_index_in_threadgroup]]) {
  uint errors = 0;
  for (uint b = i; b < count; b += 96) {
    uint sum = 0, expected = 0;
    for (uint k = 0; k < 16; ++k) {
      sum += blocks[b].packed[k] * (k + 1);
      expected += byte_at(b * 18 + 2 + k) * (k + 1);
    }
    errors += sum != expected;
    errors += blocks[b].scale != short_at(b * 18);
  }
  wrong[i] = errors;
}

// Two threads share a block, for some rows.
// RUN: --kernel halves --threads 96 --group 96 --arg wrong=u32[96]=zeros --arg blocks=u8[3600]=arange --arg count=64
// EXPECT wrong: 0 x 96
// RUN: --kernel halves --threads 45 --group 45 --arg wrong=u32[96]=zeros --arg blocks=u8[3600]=arange --arg count=61
// EXPECT wrong: 0 x 96
// RUN: --kernel halves --threads 16,6 --group 16,6 --arg wrong=u32[96]=zeros --arg blocks=u8[3600]=arange --arg count=66
// EXPECT wrong: 0 x 96
kernel void halves(device uint* wrong, device const Block* blocks, constant uint& count,
                   uint i [[thread_index_in_threadgroup]]) {
  const uint half_of_block = i % 2;
  uint errors = 0, sums[3] = {};
  for (uint b = i / 2; b < count; b += 48) {
    for (uint row = 0; row < 3; ++row) {
      const uint block = row * count + b;
      device const ushort* packed = reinterpret_cast<device const ushort*>(blocks[block].packed) + half_of_block * 4;
      for (uint k = 0; k < 4; ++k) {
        errors += packed[k] != short_at(block * 18 + 2 + half_of_block * 8 + 2 * k);
        sums[row] += packed[k] & 0xf;
      }
      errors += blocks[block].scale != short_at(block * 18);
    }
  }
  for (uint row = 0; row < 3; ++row) {
    for (uint b = i / 2; b < count; b += 48) {
      for (uint k = 0; k < 4; ++k) sums[row] -= byte_at((row * count + b) * 18 + 2 + half_of_block * 8 + 2 * k) & 0xf;
    }
    errors += sums[row] != 0;
  }
  wrong[i] = errors;
}

// Vectors of all sizes with gaps, of all threads and of some.
template <typename T>
uint gap_errors(device const T* values, uint stride, uint i) {
  uint errors = 0;
  const T value = values[i * stride + 1];
  for (uint k = 0; k < 4; ++k) errors += uint(value[k] & 0xff) != byte_at((i * stride + 1) * 4 + k);
  if (i % 3 != 1) {
    const T other = values[i * stride + 2];
    for (uint k = 0; k < 4; ++k) errors += uint(other[k] & 0xff) != byte_at((i * stride + 2) * 4 + k);
  }
  return errors;
}

// RUN: --kernel gaps --threads 96 --group 96 --arg wrong=u32[96]=zeros --arg a=u8[2400]=arange --arg b=u16[2400]=arange
// RUN+: --arg c=u32[2400]=arange --arg d=u64[2400]=arange --arg table=u32[96]=arange
// EXPECT wrong: 0 x 96
// RUN: --kernel gaps --threads 45 --group 45 --arg wrong=u32[96]=zeros --arg a=u8[2400]=arange --arg b=u16[2400]=arange
// RUN+: --arg c=u32[2400]=arange --arg d=u64[2400]=arange --arg table=u32[96]=arange
// EXPECT wrong: 0 x 96
kernel void gaps(device uint* wrong, device const uchar4* a, device const ushort4* b, device const uint4* c,
                 device const ulong4* d, device const uint* table, uint i [[thread_index_in_threadgroup]]) {
  uint errors = 0;
  errors += gap_errors(a, 6, i) + gap_errors(b, 6, i) + gap_errors(c, 6, i) + gap_errors(d, 6, i);
  const uint j = table[i];
  errors += gap_errors(a, 6, j) + gap_errors(b, 6, j) + gap_errors(c, 6, j) + gap_errors(d, 6, j);
  wrong[i] = errors;
}

// Runs of lanes, of all lengths, far from each other; those that take no part are in the middle of some.
template <typename T>
uint run_errors(device const T* values, uint i) {
  uint errors = 0;
  for (uint bits = 0; bits < 5; ++bits) {
    const uint place = (i & ((1u << bits) - 1)) + (i >> bits) * 37;
    if (place < 600) errors += uint(values[place] & 0xff) != byte_at(place);
    if (place < 600 && i % 5 != 2) errors += uint(values[place + 600] & 0xff) != byte_at(place + 600);
  }
  return errors;
}

// RUN: --kernel runs --threads 96 --group 96 --arg wrong=u32[96]=zeros --arg a=u8[1200]=arange --arg b=u16[1200]=arange
// RUN+: --arg c=u32[1200]=arange --arg d=u64[1200]=arange
// EXPECT wrong: 0 x 96
// RUN: --kernel runs --threads 45 --group 45 --arg wrong=u32[96]=zeros --arg a=u8[1200]=arange --arg b=u16[1200]=arange
// RUN+: --arg c=u32[1200]=arange --arg d=u64[1200]=arange
// EXPECT wrong: 0 x 96
kernel void runs(device uint* wrong, device const uchar* a, device const ushort* b, device const uint* c,
                 device const ulong* d, uint i [[thread_index_in_threadgroup]]) {
  wrong[i] = run_errors(a, i) + run_errors(b, i) + run_errors(c, i) + run_errors(d, i);
}

// Bytes and shorts anywhere, up to both ends of their buffers.
// RUN: --kernel anywhere --threads 96 --group 96 --arg wrong=u32[96]=zeros --arg a=u8[97]=arange --arg b=u16[97]=arange
// RUN+: --arg table=u32[96]=arange
// EXPECT wrong: 0 x 96
kernel void anywhere(device uint* wrong, device const uchar* a, device const ushort* b, device const uint* table,
                     uint i [[thread_index_in_threadgroup]]) {
  const uint j = table[i] * 29 % 97;
  uint errors = (a[j] != j) + (b[j] != j);
  if (i % 3 == 0) errors += (a[96 - j] != 96 - j) + (b[96 - j] != 96 - j);
  device const uchar* bytes = reinterpret_cast<device const uchar*>(b);
  if (i < 95) errors += *reinterpret_cast<device const ushort*>(bytes + 2 * i + 1) != ((i + 1) << 8 & 0xff00);
  wrong[i] = errors;
}

// Blocks of which threads leave a loop in different turns.
// RUN: --kernel leaving --threads 96 --group 96 --arg wrong=u32[96]=zeros --arg a=u32[8192]=arange --arg turns=u32[96]=arange
// EXPECT wrong: 0 x 96
kernel void leaving(device uint* wrong, device const uint4* a, device const uint* turns,
                    uint i [[thread_index_in_threadgroup]]) {
  uint errors = 0;
  for (uint turn = 0; turn < turns[i] % 7 + 1; ++turn) {
    const uint place = i * 7 * 3 + turn;
    const uint4 value = a[place];
    if (all(value == uint4(4 * place) + uint4(0, 1, 2, 3))) continue;
    if (++errors == 3) break;
  }
  wrong[i] = errors;
}

// Two threads share each block of 18 bytes, and the last one ends with the buffer.
struct NumberedBlock {
  ushort number;
  uchar rest[16];
};

// RUN: --kernel numbered --threads 64 --group 64 --arg wrong=u32[64]=zeros --arg bytes=u8[576]=arange
// EXPECT wrong: 0 x 64
kernel void numbered(device uint* wrong, device const NumberedBlock* bytes, uint i [[thread_index_in_threadgroup]]) {
  const uint at = i / 2 * 18;
  const uint number = (at & 255) | ((at + 1) & 255) << 8;
  wrong[i] = (bytes[i / 2].number != number) + (bytes[i / 2].rest[15] != ((at + 17) & 255));
}

// Many columns of a tile, from the first row to the last and the other way: thread i reads what thread 31 - i wrote.
// RUN: --kernel columns --threads 64 --group 32 --arg sums=u32[64]=zeros
// EXPECT sums: (2484 2472 .. 2112) (2484 2472 .. 2112)
// ENGINE: simd
// RUN: --kernel columns --threads 20 --group 20 --arg sums=u32[20]=zeros
// EXPECT sums: 2340 2328 .. 2112
kernel void columns(device uint* sums, uint i [[thread_index_in_threadgroup]], uint at [[thread_position_in_grid]],
                    uint threads [[threads_per_threadgroup]]) {
  threadgroup ushort down[12][32][16], up[12][32][16];
  for (uint k = 0; k < 12; ++k) {
    down[k][i][5] = i + 32 * k;
    up[k][31 - i][5] = i + 32 * k;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint sum = 0, again = 0;
  for (uint k = 0; k < 12; ++k) {
    sum += down[k][threads - 1 - i][5];
    again += up[k][32 - threads + i][5];
  }
  sums[at] = sum == again ? sum : 0;
}
