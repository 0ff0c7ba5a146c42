// How many steps a number takes to 1: integers in loops of which every lane leaves at another time.
#include <metal_stdlib>
using namespace metal;

kernel void collatz(device uint* steps, uint i [[thread_position_in_grid]]) {
  uint value = i + 1, count = 0;
  while (value != 1) {
    value = (value & 1) != 0 ? 3 * value + 1 : value / 2;
    ++count;
  }
  steps[i] = count;
}
