// A hash of field elements: a sponge of eight elements, four of which take in a message, and a permutation of full and
// partial rounds as Poseidon's. The numbers of its rounds and its matrix are made up.
#include "goldilocks.h"

using namespace metal;

constant constexpr uint width = 8, rate = 4, full_rounds = 8, partial_rounds = 22;

struct Sponge {
  Goldilocks elements[width];
};

static Goldilocks power_7(Goldilocks x) {
  const Goldilocks x_2 = x * x, x_4 = x_2 * x_2;
  return x_4 * x_2 * x;
}

static void add_constants(thread Sponge& sponge, constant Goldilocks* constants) {
  for (uint i = 0; i < width; ++i) sponge.elements[i] = sponge.elements[i] + constants[i];
}

__attribute__((noinline)) Sponge mix(thread const Sponge& sponge, constant Goldilocks* matrix) {
  Sponge mixed;
  for (uint row = 0; row < width; ++row) {
    Goldilocks sum = {0};
    for (uint column = 0; column < width; ++column) {
      sum = sum + matrix[width * row + column] * sponge.elements[column];
    }
    mixed.elements[row] = sum;
  }
  return mixed;
}

static void full_round(thread Sponge& sponge, constant Goldilocks* constants, constant Goldilocks* matrix) {
  add_constants(sponge, constants);
  for (uint i = 0; i < width; ++i) sponge.elements[i] = power_7(sponge.elements[i]);
  sponge = mix(sponge, matrix);
}

static void partial_round(thread Sponge& sponge, constant Goldilocks* constants, constant Goldilocks* matrix) {
  add_constants(sponge, constants);
  sponge.elements[0] = power_7(sponge.elements[0]);
  sponge = mix(sponge, matrix);
}

static void permute(thread Sponge& sponge, constant Goldilocks* constants, constant Goldilocks* matrix) {
  for (uint i = 0; i < full_rounds / 2; ++i, constants += width) full_round(sponge, constants, matrix);
  for (uint i = 0; i < partial_rounds; ++i, constants += width) partial_round(sponge, constants, matrix);
  for (uint i = 0; i < full_rounds / 2; ++i, constants += width) full_round(sponge, constants, matrix);
}

kernel void sponge(device Goldilocks* hashes [[buffer(0)]], device const Goldilocks* messages [[buffer(1)]],
                   constant Goldilocks* constants [[buffer(2)]], constant Goldilocks* matrix [[buffer(3)]],
                   constant uint& blocks [[buffer(4)]], uint id [[thread_position_in_grid]]) {
  Sponge state;
  for (uint i = 0; i < width; ++i) state.elements[i] = {0};
  device const Goldilocks* message = messages + rate * blocks * id;
  for (uint block = 0; block < blocks; ++block) {
    for (uint i = 0; i < rate; ++i) state.elements[i] = state.elements[i] + message[rate * block + i];
    permute(state, constants, matrix);
  }
  for (uint i = 0; i < rate; ++i) hashes[rate * id + i] = state.elements[i];
}
