// A product with tiles in arrays of the thread's own, which functions fill and read by reference, and a rest that only
// some threads load.
// CHECK: --threads 4,4 --group 4,4 --arg a=f32[16,12]=uniform --arg b=f32[12,16]=uniform --arg c=f32[16,16]=zeros --arg inner=12
#include <metal_stdlib>
using namespace metal;

template <int N>
struct Tile {
  float at[N][N];
  thread float* row(int r) { return at[r]; }
};

template <int N>
static void clear(thread Tile<N>& tile) {
  for (int r = 0; r < N; ++r) {
    for (int c = 0; c < N; ++c) tile.at[r][c] = 0;
  }
}

static void load(thread float (&values)[4], device const float* from, uint stride) {
  for (uint k = 0; k < 4; ++k) values[k] = from[k * stride];
}

kernel void product(device const float* a, device const float* b, device float* c, constant uint& inner,
                    uint2 t [[thread_position_in_grid]]) {
  Tile<4> sums;
  clear(sums);
  float left[4], right[4];
  for (uint k = 0; k < inner; ++k) {
    load(left, a + 4 * t.y * inner + k, inner);
    load(right, b + k * 16 + 4 * t.x, 1);
    for (int r = 0; r < 4; ++r) {
      for (int j = 0; j < 4; ++j) sums.row(r)[j] += left[r] * right[j];
    }
  }
  float largest[4];
  for (uint r = 0; r < 4; ++r) {
    for (uint j = 0; j < 4; ++j) {
      c[(4 * t.y + r) * 16 + 4 * t.x + j] = sums.at[r][j];
      largest[r] = j == 0 ? sums.at[r][0] : max(largest[r], sums.at[r][j]);
    }
  }
  float4x4 m;
  for (uint r = 0; r < 4; ++r) m[r] = float4(largest[r]);
  c[(4 * t.y) * 16 + 4 * t.x] += 0 * (m * float4(1)).x;
}
