// SHA3-256 of messages of 64 bytes, one block of 136 bytes in each thread.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint rounds = 24, message_words = 8, rate_words = 17, digest_words = 4;

constant ulong round_constants[rounds] = {
    0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000, 0x000000000000808b,
    0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008a, 0x0000000000000088,
    0x0000000080008009, 0x000000008000000a, 0x000000008000808b, 0x800000000000008b, 0x8000000000008089,
    0x8000000000008003, 0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
    0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};

// By which the word at (x, y) is rotated, at x + 5 y.
constant uint rotations[25] = {0,  1,  62, 28, 27, 36, 44, 6,  55, 20, 3,  10, 43,
                               25, 39, 41, 45, 15, 21, 8,  18, 2,  61, 56, 14};

struct State {
  ulong words[25];
};

static ulong rotate_left(ulong word, uint count) { return count == 0 ? word : word << count | word >> (64 - count); }

static void theta(thread State& state) {
  ulong parity[5];
  for (uint x = 0; x < 5; ++x) {
    parity[x] = 0;
    for (uint y = 0; y < 5; ++y) parity[x] ^= state.words[x + 5 * y];
  }
  for (uint x = 0; x < 5; ++x) {
    const ulong change = parity[(x + 4) % 5] ^ rotate_left(parity[(x + 1) % 5], 1);
    for (uint y = 0; y < 5; ++y) state.words[x + 5 * y] ^= change;
  }
}

static State rho_and_pi(thread const State& state) {
  State moved;
  for (uint y = 0; y < 5; ++y) {
    for (uint x = 0; x < 5; ++x) {
      moved.words[y + 5 * ((2 * x + 3 * y) % 5)] = rotate_left(state.words[x + 5 * y], rotations[x + 5 * y]);
    }
  }
  return moved;
}

static void chi(thread State& state) {
  for (uint y = 0; y < 5; ++y) {
    ulong row[5];
    for (uint x = 0; x < 5; ++x) row[x] = state.words[x + 5 * y];
    for (uint x = 0; x < 5; ++x) state.words[x + 5 * y] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]);
  }
}

__attribute__((noinline)) void permute(thread State& state) {
  for (uint round = 0; round < rounds; ++round) {
    theta(state);
    state = rho_and_pi(state);
    chi(state);
    state.words[0] ^= round_constants[round];
  }
}

kernel void sha3(device ulong* digests [[buffer(0)]], device const ulong* messages [[buffer(1)]],
                 uint id [[thread_position_in_grid]]) {
  State state;
  for (uint i = 0; i < 25; ++i) state.words[i] = i < message_words ? messages[message_words * id + i] : 0;
  state.words[message_words] ^= 0x06;
  state.words[rate_words - 1] ^= 1ul << 63;
  permute(state);
  for (uint i = 0; i < digest_words; ++i) digests[digest_words * id + i] = state.words[i];
}
