// examples/kernels/rms_norm.metal as C++: one row per call, the same arithmetic. What Clang takes to compile it is the
// yardstick for Metalloid's compile time.
#include <cmath>
#include <cstddef>
#include <cstdint>

extern "C" void rms_norm(float* out, const float* x, const float* weight, std::uint32_t columns, float epsilon,
                         std::uint32_t row, std::uint32_t threads) {
  float partial_sums[32] = {};
  const float* row_in = x + std::size_t{row} * columns;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    float sum = 0;
    for (std::uint32_t column = thread; column < columns; column += threads) {
      sum += row_in[column] * row_in[column];
    }
    partial_sums[thread / 32] += sum;
  }
  float sum = 0;
  for (float partial : partial_sums) sum += partial;
  const float scale = 1 / std::sqrt(sum / columns + epsilon);
  float* row_out = out + std::size_t{row} * columns;
  for (std::uint32_t column = 0; column < columns; ++column) {
    row_out[column] = row_in[column] * scale * weight[column];
  }
}
