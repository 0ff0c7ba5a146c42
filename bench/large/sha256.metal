// SHA-256 of messages of 64 bytes: a block of the message and one that only has its end and length.
#include <metal_stdlib>
using namespace metal;

constant uint round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

struct Digest {
  uint words[8];
};

struct Block {
  uint words[16];
};

static uint rotate_right(uint x, uint count) { return rotate(x, 32 - count); }

static uint swap_bytes(uint x) { return as_type<uint>(as_type<uchar4>(x).wzyx); }

// The word of the schedule for a round from 16 on, in the place of the one that is used no more.
static uint next_word(thread Block& block, uint round) {
  const uint before = block.words[(round + 1) % 16], after = block.words[(round + 14) % 16];
  const uint low = rotate_right(before, 7) ^ rotate_right(before, 18) ^ before >> 3;
  const uint high = rotate_right(after, 17) ^ rotate_right(after, 19) ^ after >> 10;
  return block.words[round % 16] += low + block.words[(round + 9) % 16] + high;
}

__attribute__((noinline)) Digest compress(Digest digest, Block block) {
  uint a = digest.words[0], b = digest.words[1], c = digest.words[2], d = digest.words[3];
  uint e = digest.words[4], f = digest.words[5], g = digest.words[6], h = digest.words[7];
  for (uint round = 0; round < 64; ++round) {
    const uint word = round < 16 ? block.words[round] : next_word(block, round);
    const uint high = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
    const uint first = h + high + ((e & f) ^ (~e & g)) + round_constants[round] + word;
    const uint low = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
    const uint second = low + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const uint sums[8] = {a, b, c, d, e, f, g, h};
  for (uint i = 0; i < 8; ++i) digest.words[i] += sums[i];
  return digest;
}

kernel void sha256(device Digest* digests [[buffer(0)]], device const Block* messages [[buffer(1)]],
                   uint id [[thread_position_in_grid]]) {
  Digest digest = {{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
  Block block = messages[id], end = {{0x80000000}};
  for (uint i = 0; i < 16; ++i) block.words[i] = swap_bytes(block.words[i]);
  digest = compress(digest, block);
  end.words[15] = 512;  // bits of the message
  digest = compress(digest, end);
  for (uint i = 0; i < 8; ++i) digest.words[i] = swap_bytes(digest.words[i]);
  digests[id] = digest;
}
