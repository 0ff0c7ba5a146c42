// Convolutions with places of 3 x 3 and steps of 1: four products for a result in the place of nine
// (kernels/Winograd.metal).
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/mps/MPSDevice.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/empty.h>

#include <ATen/native/mps/Winograd_metallib.h>

#include <algorithm>
#include <cstdlib>

#include "convolution.h"
#include "kernels.h"

namespace metalloid::operators {

namespace {

struct WinogradWeights {
  std::int64_t row, channel, taps[2];
  int rows, channels;
};

struct WinogradParams {
  std::int64_t gathered_image, gathered_channel, gathered_row;
  std::int64_t result_image, result_channel, result_row;
  std::int64_t bias_step;
  std::int64_t memory;
  int rows, channels;
  int sizes[2], gathered_sizes[2];
  int first[2];
  int image_tiles, tile_rows, pitch;
  int block, blocks;
  int has_bias;
};

constexpr int places = 16;
constexpr std::int64_t apart = 16;  // elements between rows, which so do not meet in a cache

bool is_of_3x3(const ConvolutionParams& params, std::int64_t groups) {
  if (groups != 1 || params.gathered[2] != 1 || params.result_column[3] != 1) return false;
  if (params.depth_sizes[1] != 1 || params.column_sizes[1] != 1 || params.gathered_sizes[0] != 1 ||
      params.start[0] != 0) {
    return false;
  }
  for (int axis = 1; axis < 3; ++axis) {
    if (params.depth_sizes[axis + 1] != 3 || params.column_steps[axis] != 1 || params.divisors[axis] != 1 ||
        std::abs(params.depth_steps[axis]) != 1) {
      return false;
    }
  }
  return true;
}

// Rows and columns of a product, and blocks of so many tiles each.
struct WinogradTile {
  int rows, columns, block, blocks;
  double cost;
};

// Cycles, about: of products, which are computed whole, of what goes to and from them, and of the sums around them.
double cost_of(const WinogradTile& tile, int rows, int channels, int cores) {
  const double m = tile.rows, n = tile.columns, k = channels;
  const double product = 1.2 * m * n * k + 4 * m * k + 6 * n * k + 8 * m * n;
  const double block = parts_of(rows, tile.rows) * product + 29.0 * n * (rows + channels);
  return parts_of(tile.blocks, cores) * block;
}

WinogradTile winograd_tile(int rows, int channels, int tiles, int cores) {
  WinogradTile best{};
  for (const int height : {32, 64}) {
    for (int width = 32; width <= 128; width += 16) {
      WinogradTile tile{height, width, 0, parts_of(tiles, width), 0};
      tile.block = parts_of(tiles, tile.blocks);
      tile.cost = cost_of(tile, rows, channels, cores);
      if (best.rows == 0 || tile.cost < best.cost) best = tile;
    }
  }
  return best;
}

// The same of nine products for each place of the result, spread over the cores.
double cost_of_products(const ConvolutionParams& params, int cores) {
  return 9 * 1.75 / 16 * params.rows * params.depth_sizes[0] * params.columns / cores;
}

}  // namespace

bool convolve_by_winograd(const ConvolutionParams& params, std::int64_t groups, const at::Tensor& result,
                          const at::Tensor& matrix, const at::Tensor& gathered, const at::Tensor& bias) {
  const at::ScalarType type = result.scalar_type();
  if ((type != at::kFloat && type != at::kHalf) || !is_of_3x3(params, groups)) return false;
  const int images = params.column_sizes[0], rows = params.rows, channels = params.depth_sizes[0];
  WinogradParams own{};
  own.pitch = parts_of(params.column_sizes[3], 2) + 1;
  own.image_tiles = parts_of(params.column_sizes[2], 2);
  own.tile_rows = own.image_tiles * images;
  const int tiles = own.tile_rows * own.pitch;
  if (rows < 16 || channels < 16) return false;
  const auto cores = static_cast<int>(at::mps::MPSDevice::getInstance()->getCoreCount());
  const WinogradTile tile = winograd_tile(rows, channels, tiles, cores);
  const double for_weight = 30.0 * rows * channels / cores;
  if (tile.cost + for_weight > cost_of_products(params, cores)) return false;
  own.gathered_image = params.gathered_column;
  own.gathered_channel = params.gathered_depth;
  own.gathered_row = params.gathered[1];
  own.result_image = params.result_column[0];
  own.result_channel = params.result_row;
  own.result_row = params.result_column[2];
  own.bias_step = params.bias_row;
  const std::int64_t width = parts_of(tile.columns, 32) * 32;
  // As the kernel's Memory: rows of elements, tiles and results of each channel, and four places' products.
  own.memory = std::int64_t{channels} * (4 * (2 * width + apart) + 4 * width + apart) + std::int64_t{rows} * 4 * width +
               4 * (tile.rows * width + apart);
  own.rows = rows;
  own.channels = channels;
  own.block = tile.block;
  own.blocks = tile.blocks;
  own.has_bias = params.has_bias;
  WinogradWeights weights{};
  weights.row = params.matrix_row;
  weights.channel = params.matrix_depth[0];
  weights.rows = rows;
  weights.channels = channels;
  std::int64_t first_weight = 0;
  for (int axis = 0; axis < 2; ++axis) {
    own.sizes[axis] = params.column_sizes[axis + 2];
    own.gathered_sizes[axis] = params.gathered_sizes[axis + 1];
    own.first[axis] = params.start[axis + 1];
    weights.taps[axis] = params.matrix_depth[axis + 2];
    if (params.depth_steps[axis + 1] < 0) {  // from the last one on
      own.first[axis] -= 2;
      first_weight += 2 * weights.taps[axis];
      weights.taps[axis] = -weights.taps[axis];
    }
  }

  const std::string name = metal_type(type, "convolution_mps");
  const auto in_float = result.options().dtype(at::kFloat);
  const at::Tensor transformed = at::empty({places * (std::int64_t{rows} * channels + apart)}, in_float);
  const Extent threads = {static_cast<std::uint64_t>(channels), static_cast<std::uint64_t>(rows), 1};
  run(lib, "winograd_weights_" + name, threads, group_for(threads), transformed,
      matrix.as_strided({1}, {1}, matrix.storage_offset() + first_weight), weights);
  const auto all = static_cast<std::uint64_t>(groups_for(tile.blocks, cores, own.memory));
  const at::Tensor memory = at::empty({static_cast<std::int64_t>(all) * own.memory}, in_float);
  run(lib, "winograd_" + std::to_string(tile.rows) + "_" + std::to_string(tile.columns) + "_" + name, {all * 32, 1, 1},
      {32, 1, 1}, result, gathered, transformed, bias.defined() ? bias : result, memory, own);
  return true;
}

}  // namespace metalloid::operators
