// Convolutions that go through memory in rows (kernels/ConvolutionProduct.metal):
//   of one place with stride 1, a product of matrices as they lie there;
//   of few rows, sums one by one;
//   of 3 x 3 places, Winograd's filtering (Winograd.cpp);
//   in float, and of many places, products block by block (ConvolutionBlocks.cpp);
//   others, products with lines of what each place of the weight reads.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/empty.h>

#include <ATen/native/mps/ConvolutionProduct_metallib.h>

#include "convolution.h"
#include "kernels.h"

namespace metalloid::operators {

namespace {

struct PlacesParams {
  std::int64_t image, channel, space[3], group, line;
  int images, channels;
  int sizes[3], results[3], steps[3];
  int taps[3], first_tap[3], tap_step[3];
  int lines, rows, lines_at_once, rows_at_once;
};

struct WeightsParams {
  std::int64_t group, row, channel, taps[3];
  int rows, channels, sizes[3];
};

struct ProductParams {
  std::int64_t line, group_places;
  std::int64_t matrix_group, matrix_row;
  std::int64_t result_group, result_row, result_column[4];
  std::int64_t bias_group, bias_row;
  int rows, columns, depth;
  int sizes[3];
  int has_bias;
};

struct DirectParams {
  std::int64_t matrix_group, matrix_row, matrix_channel, matrix[3];
  std::int64_t gathered_group, gathered_image, gathered_channel, gathered[3];
  std::int64_t result_group, result_row, result_image, result[3];
  std::int64_t bias_group, bias_row;
  int rows, images, channels;
  int sizes[3], gathered_sizes[3];
  int taps[3], tap_step[3], first_tap[3], steps[3];
  int has_bias;
  int blocks;
};

constexpr int narrowest_tile = 32;  // that has a kernel
constexpr int narrow = 24;          // of rows that do not fill a SIMD group

std::int64_t product_of(const int* sizes) { return std::int64_t{sizes[0]} * sizes[1] * sizes[2]; }

// Whether three axes can be one, with the last one's stride.
bool are_one_axis(const std::int64_t* strides, const int* sizes) {
  return (sizes[1] == 1 || strides[1] == strides[2] * sizes[2]) &&
         (sizes[0] == 1 || strides[0] == strides[2] * sizes[2] * sizes[1]);
}

bool is_product_of_matrices(const ConvolutionParams& params, std::int64_t groups) {
  if (groups != 1 || !are_one_axis(params.gathered, params.gathered_sizes) ||
      !are_one_axis(params.result_column + 1, params.column_sizes + 1)) {
    return false;
  }
  for (int axis = 0; axis < 3; ++axis) {
    if (params.depth_sizes[axis + 1] != 1 || params.column_steps[axis] != 1 || params.start[axis] != 0 ||
        params.gathered_sizes[axis] != params.column_sizes[axis + 1]) {
      return false;
    }
  }
  return true;
}

void multiply_places(const ConvolutionParams& params, const at::Tensor& result, const at::Tensor& matrix,
                     const at::Tensor& gathered, const at::Tensor& bias) {
  const std::int64_t images = params.column_sizes[0], places = product_of(params.column_sizes + 1);
  const std::int64_t rows = params.rows, channels = params.depth_sizes[0];
  const at::Tensor left = matrix.as_strided({images, rows, channels}, {0, params.matrix_row, params.matrix_depth[0]});
  const at::Tensor right = gathered.as_strided({images, channels, places},
                                               {params.gathered_column, params.gathered_depth, params.gathered[2]});
  const at::Tensor sums =
      result.as_strided({images, rows, places}, {params.result_column[0], params.result_row, params.result_column[3]});
  const at::Tensor added =
      bias.defined() ? bias.as_strided({images, rows, places}, {0, params.bias_row, 0}) : at::Tensor();
  multiply_matrices(left, right, added, 1, 1, sums);
}

// Of two dimensions, in which weights and images go on by one.
bool is_3x3(const DirectParams& direct) {
  const auto is_plain = [&](int axis) {
    return direct.taps[axis] == 3 && direct.tap_step[axis] == 1 && direct.steps[axis] == 1;
  };
  return direct.channels == 1 && direct.taps[0] == 1 && direct.sizes[0] == 1 && direct.gathered_sizes[0] == 1 &&
         direct.first_tap[0] == 0 && is_plain(1) && is_plain(2);
}

void sum_directly(const ConvolutionParams& params, std::int64_t groups, const at::Tensor& result,
                  const at::Tensor& matrix, const at::Tensor& gathered, const at::Tensor& bias) {
  DirectParams direct{};
  direct.matrix_group = params.group_matrix;
  direct.matrix_row = params.matrix_row;
  direct.matrix_channel = params.matrix_depth[0];
  direct.images = params.column_sizes[0];
  for (int axis = 0; axis < 3; ++axis) direct.matrix[axis] = params.matrix_depth[axis + 1];
  set_places(direct, params);
  constexpr int lines = 4, elements = 1 << 12;  // of a block, and of a threadgroup
  const int all = (direct.sizes[1] + lines - 1) / lines * direct.sizes[0];
  direct.blocks = std::clamp(elements / (lines * direct.sizes[2]), 1, all);
  const bool lies_in_rows = direct.gathered[2] == 1 && direct.result[2] == 1;
  const auto images_and_rows = static_cast<std::uint64_t>(direct.images) * static_cast<std::uint64_t>(direct.rows);
  if (lies_in_rows && is_3x3(direct)) {
    const auto strips = static_cast<std::uint64_t>((direct.sizes[2] + 29) / 30);
    run(lib, std::string("convolution_direct_3x3_") + metal_type(result.scalar_type(), "convolution_mps"),
        {strips * 32, images_and_rows, static_cast<std::uint64_t>(groups)}, {32, 1, 1}, result, matrix, gathered,
        bias.defined() ? bias : result, direct);
    return;
  }
  const int step = lies_in_rows && direct.steps[2] <= 2 ? direct.steps[2] : 0;
  run(lib, "convolution_direct_" + std::to_string(step) + "_" + metal_type(result.scalar_type(), "convolution_mps"),
      {static_cast<std::uint64_t>((all + direct.blocks - 1) / direct.blocks) * 32, images_and_rows,
       static_cast<std::uint64_t>(groups)},
      {32, 1, 1}, result, matrix, gathered, bias.defined() ? bias : result, direct);
}

// Whether a row of the matrix lies in memory as channels and places are counted.
bool is_in_order(const ConvolutionParams& params) {
  std::int64_t step = 1;
  for (int axis = 3; axis >= 0; --axis) {
    if (params.depth_sizes[axis] != 1 && params.matrix_depth[axis] != step) return false;
    step *= params.depth_sizes[axis];
  }
  return true;
}

void order_weights(const ConvolutionParams& params, std::int64_t groups, const at::Tensor& matrix,
                   const at::Tensor& ordered) {
  WeightsParams weights{};
  weights.group = params.group_matrix;
  weights.row = params.matrix_row;
  weights.channel = params.matrix_depth[0];
  weights.rows = params.rows;
  weights.channels = params.depth_sizes[0];
  for (int axis = 0; axis < 3; ++axis) {
    weights.taps[axis] = params.matrix_depth[axis + 1];
    weights.sizes[axis] = params.depth_sizes[axis + 1];
  }
  const Extent threads = {static_cast<std::uint64_t>(params.depth), static_cast<std::uint64_t>(params.rows),
                          static_cast<std::uint64_t>(groups)};
  run(lib, std::string("convolution_weights_") + metal_type(ordered.scalar_type(), "convolution_mps"), threads,
      group_for(threads), ordered, matrix, weights);
}

// A threadgroup brings some thousand elements.
void bring_places(PlacesParams& places, std::int64_t groups, const at::Tensor& filled, const at::Tensor& gathered) {
  constexpr std::int64_t elements = 1 << 13;
  const auto taps = product_of(places.taps);
  places.lines = static_cast<int>(places.channels * taps);
  places.rows = static_cast<int>((places.line + places.results[2] - 1) / places.results[2]);
  places.rows_at_once = static_cast<int>(std::clamp<std::int64_t>(elements / places.results[2], 1, places.rows));
  const auto blocks = [](std::int64_t all, std::int64_t at_once) {
    return static_cast<std::uint64_t>((all + at_once - 1) / at_once);
  };
  const std::string type = metal_type(filled.scalar_type(), "convolution_mps");
  const auto all_groups = static_cast<std::uint64_t>(groups);
  if (places.results[2] < narrow) {
    places.lines_at_once = static_cast<int>(std::clamp<std::int64_t>(elements / (32 * taps), 1, places.channels));
    run(lib, "convolution_narrow_places_" + type,
        {blocks(places.line, 32) * 32, blocks(places.channels, places.lines_at_once), all_groups}, {32, 1, 1}, filled,
        gathered, places);
    return;
  }
  places.lines_at_once = static_cast<int>(
      std::clamp<std::int64_t>(elements / (std::int64_t{places.rows_at_once} * places.results[2]), 1, places.lines));
  run(lib, "convolution_places_" + type,
      {blocks(places.rows, places.rows_at_once) * 32, blocks(places.lines, places.lines_at_once), all_groups},
      {32, 1, 1}, filled, gathered, places);
}

// Lines are followed by a few zeros, and do not meet in a cache.
std::int64_t line_of(std::int64_t columns) {
  const std::int64_t line = (columns + 15) / 16 * 16;
  return line % 256 == 0 ? line + 16 : line;
}

bool multiply_lines(const ConvolutionParams& params, std::int64_t groups, const at::Tensor& result,
                    const at::Tensor& matrix, const at::Tensor& gathered, const at::Tensor& bias) {
  const std::int64_t of_image = product_of(params.column_sizes + 1), all_lines = groups * params.depth;
  constexpr std::int64_t most = std::int64_t{1} << 26, usual = std::int64_t{1} << 22;
  if (line_of(of_image) * all_lines > most) return false;
  const int together =
      static_cast<int>(std::clamp<std::int64_t>(usual / (line_of(of_image) * all_lines), 1, params.column_sizes[0]));

  const OrderedWeights weights = in_order(params, groups, matrix, result.options());
  PlacesParams places{};
  ProductParams product{};
  places.image = params.gathered_column;
  places.channel = params.gathered_depth;
  places.group = params.group_gathered;
  places.channels = params.depth_sizes[0];
  product.matrix_group = weights.group;
  product.matrix_row = weights.row;
  product.result_group = params.group_result;
  product.result_row = params.result_row;
  product.result_column[0] = params.result_column[0];
  const bool is_one_axis = are_one_axis(params.result_column + 1, params.column_sizes + 1);
  for (int axis = 0; axis < 3; ++axis) {
    places.space[axis] = params.gathered[axis];
    places.sizes[axis] = params.gathered_sizes[axis];
    places.results[axis] = params.column_sizes[axis + 1];
    places.steps[axis] = params.column_steps[axis];
    places.taps[axis] = params.depth_sizes[axis + 1];
    places.first_tap[axis] = params.start[axis];
    places.tap_step[axis] = params.depth_steps[axis];
    product.result_column[axis + 1] = params.result_column[axis + 1];
    product.sizes[axis] = is_one_axis ? (axis == 2 ? static_cast<int>(of_image) : 1) : params.column_sizes[axis + 1];
  }
  product.bias_group = params.group_bias;
  product.bias_row = params.bias_row;
  product.rows = params.rows;
  product.depth = params.depth;
  product.has_bias = params.has_bias;
  const std::uint64_t own_rows = params.rows, all_groups = groups;
  const std::uint64_t tile = own_rows <= 16 ? 16 : own_rows <= 32 ? 32 : 64;
  for (int first = 0; first < params.column_sizes[0]; first += together) {
    places.images = std::min(together, params.column_sizes[0] - first);
    const std::uint64_t columns = places.images * of_image;
    product.columns = static_cast<int>(columns);
    places.line = product.line = line_of(product.columns);
    product.group_places = places.line * params.depth;
    const at::Tensor filled = at::empty({places.line * all_lines}, result.options());
    const auto part_of = [first](const at::Tensor& tensor, std::int64_t stride) {
      return tensor.as_strided({1}, {1}, tensor.storage_offset() + first * stride);
    };
    bring_places(places, groups, filled, part_of(gathered, params.gathered_column));
    const auto width =
        static_cast<std::uint64_t>(tile < 64 ? 128 : width_of_tiles(static_cast<int>(columns), narrowest_tile));
    const std::string name = "convolution_product_" + std::to_string(tile) + "_" + std::to_string(width) + "_" +
                             metal_type(result.scalar_type(), "convolution_mps");
    run(lib, name, {(columns + width - 1) / width * 32, (own_rows + tile - 1) / tile, all_groups}, {32, 1, 1},
        part_of(result, params.result_column[0]), weights.matrix, filled, bias.defined() ? bias : result, product);
  }
  return true;
}

}  // namespace

OrderedWeights in_order(const ConvolutionParams& params, std::int64_t groups, const at::Tensor& matrix,
                        const at::TensorOptions& options) {
  if (is_in_order(params)) return {matrix, params.group_matrix, params.matrix_row};
  const at::Tensor ordered = at::empty({groups * params.rows * params.depth}, options);
  order_weights(params, groups, matrix, ordered);
  return {ordered, std::int64_t{params.rows} * params.depth, params.depth};
}

bool convolve_in_rows(const ConvolutionParams& params, std::int64_t groups, const at::Tensor& result,
                      const at::Tensor& matrix, const at::Tensor& gathered, const at::Tensor& bias) {
  if (!at::isFloatingType(result.scalar_type()) || params.depth == 0 || gathered.numel() == 0) return false;
  for (const int divisor : params.divisors) {
    if (divisor != 1) return false;
  }
  const std::int64_t places = std::int64_t{params.depth_sizes[1]} * params.depth_sizes[2] * params.depth_sizes[3];
  if (params.rows >= 4 && params.columns >= 16 && params.depth >= 8 && is_product_of_matrices(params, groups)) {
    multiply_places(params, result, matrix, gathered, bias);
    return true;
  }
  if (places > 1024) return false;  // as in gradients of weights
  if (convolve_by_winograd(params, groups, result, matrix, gathered, bias)) return true;
  if (params.rows >= 8 && params.columns >= 16 && params.depth >= 8) {
    if (convolve_in_blocks(params, groups, result, matrix, gathered, bias)) return true;
    return multiply_lines(params, groups, result, matrix, gathered, bias);
  }
  if (params.column_sizes[3] < 8) return false;
  sum_directly(params, groups, result, matrix, gathered, bias);
  return true;
}

}  // namespace metalloid::operators
