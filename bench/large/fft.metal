// A Fourier transform of 4096 complex numbers in each threadgroup, by four steps: transforms of 64 along columns, a
// rotation of each number, transforms of 64 along rows, a transposition.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint side = 64, size = side * side, threads = 256, quarter_side = side / 4;

static float2 multiply(float2 a, float2 b) { return float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

// exp(-2 pi i numerator / denominator)
static float2 root(uint numerator, uint denominator) {
  const float angle = -2 * M_PI_F * float(numerator) / float(denominator);
  return float2(cos(angle), sin(angle));
}

static uint reverse_digits(uint index) { return index % 4 * 16 + index / 4 % 4 * 4 + index / 16; }

struct Four {
  float2 values[4];
};

static Four transform_four(thread const Four& in) {
  const float2 even = in.values[0] + in.values[2], even_difference = in.values[0] - in.values[2];
  const float2 odd = in.values[1] + in.values[3], odd_difference = in.values[1] - in.values[3];
  const float2 turned = float2(odd_difference.y, -odd_difference.x);  // by -i
  return {{even + odd, even_difference + turned, even - odd, even_difference - turned}};
}

// Transforms of 64 in place, one in each line; results are left with the digits of their indices, of base 4, reversed.
__attribute__((noinline)) void transform_lines(threadgroup float2* data, uint thread_index, uint line_stride,
                                               uint element_stride) {
  for (uint quarter = quarter_side; quarter >= 1; quarter /= 4) {
    for (uint i = thread_index; i < size / 4; i += threads) {
      const uint line = i / quarter_side, butterfly = i % quarter_side;
      const uint within = butterfly % quarter, first = butterfly / quarter * quarter * 4 + within;
      threadgroup float2* place = data + line * line_stride + first * element_stride;
      Four four;
      for (uint k = 0; k < 4; ++k) four.values[k] = place[k * quarter * element_stride];
      four = transform_four(four);
      for (uint k = 0; k < 4; ++k) {
        place[k * quarter * element_stride] = multiply(four.values[k], root(within * k, quarter * 4));
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

kernel void fft(device float2* results [[buffer(0)]], device const float2* signals [[buffer(1)]],
                uint group [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]]) {
  threadgroup float2 data[size];
  for (uint i = thread_index; i < size; i += threads) data[i] = signals[group * size + i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  transform_lines(data, thread_index, 1, side);
  for (uint i = thread_index; i < size; i += threads) {
    data[i] = multiply(data[i], root(i % side * reverse_digits(i / side), size));
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  transform_lines(data, thread_index, side, 1);
  for (uint i = thread_index; i < size; i += threads) {
    results[group * size + i] = data[reverse_digits(i % side) * side + reverse_digits(i / side)];
  }
}
