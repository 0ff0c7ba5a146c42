// Convolutions with places of 3 x 3 and steps of 1: four products for a result in the place of nine
// (kernels/Winograd.metal).
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/mps/MPSDevice.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/empty.h>

#include <ATen/native/mps/Winograd_metallib.h>

#include <algorithm>
#include <cmath>
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
  int image_tiles[2];
  int tiles, blocks;
  int parts, part_rows;
  int has_bias;
};

// As in kernels/Winograd.metal.
constexpr int places = 16, block_tiles = 32, apart = 16;
constexpr int weight_rows = 8, sums_at_once = 8, rows_at_once = 32;

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

// Cycles, about, of blocks of tiles whose rows are divided into so many parts: each part transforms the tiles.
double cost_of(const WinogradParams& params, int parts, int cores) {
  const double rows = parts_of(params.rows, parts), channels = params.channels;
  const double lines = parts_of(block_tiles, params.image_tiles[1]);
  const double product = 37 * (parts_of(static_cast<int>(rows), sums_at_once) * sums_at_once) * channels;
  return std::ceil(static_cast<double>(params.blocks) * parts / cores) *
         (product + lines * (110 * channels + 60 * rows));
}

// So that all cores have something to do.
int cheapest_parts(const WinogradParams& params, int cores) {
  int best = 1;
  const int most = std::min(parts_of(params.rows, sums_at_once), 2 * cores);
  for (int parts = 2; parts <= most; ++parts) {
    if (cost_of(params, parts, cores) < cost_of(params, best, cores)) best = parts;
  }
  return best;
}

}  // namespace

bool convolve_by_winograd(const ConvolutionParams& params, std::int64_t groups, const at::Tensor& result,
                          const at::Tensor& matrix, const at::Tensor& gathered, const at::Tensor& bias) {
  const at::ScalarType type = result.scalar_type();
  if ((type != at::kFloat && type != at::kHalf) || !is_of_3x3(params, groups)) return false;
  const int images = params.column_sizes[0], rows = params.rows, channels = params.depth_sizes[0];
  if (rows < 16 || channels < 16) return false;
  WinogradParams own{};
  own.rows = rows;
  own.channels = channels;
  for (int axis = 0; axis < 2; ++axis) own.image_tiles[axis] = parts_of(params.column_sizes[axis + 2], 2);
  own.tiles = images * own.image_tiles[0] * own.image_tiles[1];
  own.blocks = parts_of(own.tiles, block_tiles);
  const auto cores = static_cast<int>(at::mps::MPSDevice::getInstance()->getCoreCount());
  const int parts = cheapest_parts(own, cores);
  const double for_weights = 15.0 * rows * channels / cores;
  if (cost_of(own, parts, cores) + for_weights > cost_of_sums(params, cores)) return false;
  own.part_rows = parts_of(parts_of(rows, parts), sums_at_once) * sums_at_once;
  own.parts = parts_of(rows, own.part_rows);
  own.gathered_image = params.gathered_column;
  own.gathered_channel = params.gathered_depth;
  own.gathered_row = params.gathered[1];
  own.result_image = params.result_column[0];
  own.result_channel = params.result_row;
  own.result_row = params.result_column[2];
  own.bias_step = params.bias_row;
  // Tiles and products as the kernel has them, and what lanes without a tile read.
  own.memory = places * (std::int64_t{block_tiles} * (channels + rows_at_once) + 2 * apart) + apart;
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
  const Extent threads = {static_cast<std::uint64_t>(parts_of(channels, 32)) * 32,
                          static_cast<std::uint64_t>(parts_of(rows, weight_rows)), 1};
  run(lib, "winograd_weights_" + name, threads, {32, 1, 1}, transformed,
      matrix.as_strided({1}, {1}, matrix.storage_offset() + first_weight), weights);
  const std::int64_t items = std::int64_t{own.blocks} * own.parts;
  const auto all = static_cast<std::uint64_t>(groups_for(items, cores, own.memory));
  const at::Tensor memory = at::empty({static_cast<std::int64_t>(all) * own.memory}, in_float);
  run(lib, "winograd_" + name, {all * 32, 1, 1}, {32, 1, 1}, result, gathered, transformed,
      bias.defined() ? bias : result, memory, own);
  return true;
}

}  // namespace metalloid::operators
