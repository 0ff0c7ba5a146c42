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

inline int parts_of(int all, int each) { return (all + each - 1) / each; }

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

// Those of many places and rows that are not short (ConvolutionBlocks.cpp). False, and nothing done, for others.
bool convolve_in_blocks(const ConvolutionParams& params, std::int64_t groups, const at::Tensor& result,
                        const at::Tensor& matrix, const at::Tensor& gathered, const at::Tensor& bias);

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
