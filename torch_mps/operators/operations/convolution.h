// A convolution, or a gradient of one, as a product (kernels/ConvolutionProduct.metal).
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <cstdint>

namespace metalloid::operators {

// As in kernels/MatrixMultiply.metal.
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

// Those that need no matrix of gathered elements, or gather it in rows (ConvolutionProduct.cpp). False, and nothing
// done, if it is none of these. The bias may be undefined.
bool convolve_in_rows(const ConvolutionParams& params, std::int64_t groups, const at::Tensor& result,
                      const at::Tensor& matrix, const at::Tensor& gathered, const at::Tensor& bias);

// result = beta * input + alpha * first @ second, all of three dimensions (MatrixMultiply.cpp). Where beta is 0 input
// is not read, and may be undefined.
void multiply_matrices(const at::Tensor& first, const at::Tensor& second, const at::Tensor& input,
                       const at::Scalar& beta, const at::Scalar& alpha, const at::Tensor& result);

}  // namespace metalloid::operators
