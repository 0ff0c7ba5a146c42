// A convolution, or a gradient of one, as a product (kernels/ConvolutionProduct.metal).
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <algorithm>
#include <cstdint>

namespace metalloid::operators {

// As in kernels/Convolution.metal.
struct ConvolutionParams {
  std::int64_t group_matrix, group_gathered, group_result, group_bias;
  std::int64_t matrix_row, matrix_depth[4];
  std::int64_t gathered_column, gathered_depth, gathered[3];
  std::int64_t result_row, result_column[4];
  std::int64_t bias_row;
  int rows, columns, depth;
  int column_sizes[4], depth_sizes[4], gathered_sizes[3];
  int column_steps[3], depth_steps[3], start[3], divisors[3];
  int has_bias;
};

// What kernels that go through places one by one have of it, by their names.
template <typename Params>
void set_places(Params& own, const ConvolutionParams& params) {
  own.gathered_group = params.group_gathered;
  own.gathered_image = params.gathered_column;
  own.gathered_channel = params.gathered_depth;
  own.result_group = params.group_result;
  own.result_row = params.result_row;
  own.result_image = params.result_column[0];
  own.bias_group = params.group_bias;
  own.bias_row = params.bias_row;
  own.rows = params.rows;
  own.channels = params.depth_sizes[0];
  own.has_bias = params.has_bias;
  for (int axis = 0; axis < 3; ++axis) {
    own.gathered[axis] = params.gathered[axis];
    own.result[axis] = params.result_column[axis + 1];
    own.sizes[axis] = params.column_sizes[axis + 1];
    own.gathered_sizes[axis] = params.gathered_sizes[axis];
    own.taps[axis] = params.depth_sizes[axis + 1];
    own.tap_step[axis] = params.depth_steps[axis];
    own.first_tap[axis] = params.start[axis];
    own.steps[axis] = params.column_steps[axis];
  }
}

inline int parts_of(int all, int each) { return (all + each - 1) / each; }

// Of a product's tiles, in columns. They are computed whole; a wide one costs less for a column.
inline int width_of_tiles(int columns, int narrowest) {
  constexpr int widest = 128, step = 16;
  const auto cost = [&](int width) { return std::int64_t{parts_of(columns, width)} * (width + 8); };
  int best = widest;
  for (int width = widest - step; width >= narrowest; width -= step) {
    if (cost(width) < cost(best)) best = width;
  }
  return best;
}

// Threadgroups that have `memory` elements each and take turns at blocks: some for each core, so that cores end
// together, as long as that is not too much memory.
inline std::int64_t groups_for(std::int64_t blocks, int cores, std::int64_t memory) {
  constexpr std::int64_t usual = 4, most = std::int64_t{1} << 25;
  return std::min(blocks, std::clamp<std::int64_t>(most / memory, cores, usual * cores));
}

// Those that need no matrix of gathered elements, or gather it in rows (ConvolutionProduct.cpp). False, and nothing
// done, if it is none of these. The bias may be undefined.
bool convolve_in_rows(const ConvolutionParams& params, std::int64_t groups, const at::Tensor& result,
                      const at::Tensor& matrix, const at::Tensor& gathered, const at::Tensor& bias);

// Those in float, and those of many places and rows that are not short (ConvolutionBlocks.cpp). False, and nothing
// done, for others.
bool convolve_in_blocks(const ConvolutionParams& params, std::int64_t groups, const at::Tensor& result,
                        const at::Tensor& matrix, const at::Tensor& gathered, const at::Tensor& bias);

// Cycles that one of them takes in float, about.
double cost_of_sums(const ConvolutionParams& params, int cores);

// The matrix, of which each row lies in memory as channels and places are counted, and the strides of groups and rows.
struct OrderedWeights {
  at::Tensor matrix;
  std::int64_t group, row;
};
OrderedWeights in_order(const ConvolutionParams& params, std::int64_t groups, const at::Tensor& matrix,
                        const at::TensorOptions& options);

// Those of 3 x 3 places with steps of 1 and some channels (Winograd.cpp). False, and nothing done, if it is none of
// them.
bool convolve_by_winograd(const ConvolutionParams& params, std::int64_t groups, const at::Tensor& result,
                          const at::Tensor& matrix, const at::Tensor& gathered, const at::Tensor& bias);

// result = beta * input + alpha * first @ second, all of three dimensions (MatrixMultiply.cpp). Where beta is 0 input
// is not read, and may be undefined.
void multiply_matrices(const at::Tensor& first, const at::Tensor& second, const at::Tensor& input,
                       const at::Scalar& beta, const at::Scalar& alpha, const at::Tensor& result);

}  // namespace metalloid::operators
