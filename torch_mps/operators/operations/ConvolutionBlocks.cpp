// Convolutions of many places, block by block of the result (kernels/ConvolutionBlocks.metal).
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/mps/MPSDevice.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/empty.h>

#include <ATen/native/mps/ConvolutionBlocks_metallib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "convolution.h"
#include "kernels.h"

namespace metalloid::operators {

namespace {

struct BlocksParams {
  std::int64_t gathered_group, gathered_image, gathered_channel, gathered[3];
  std::int64_t matrix_group, matrix_row;
  std::int64_t result_group, result_row, result_image, result[3];
  std::int64_t bias_group, bias_row;
  int rows, columns, channels;
  int sizes[3], gathered_sizes[3];
  int taps[3], tap_step[3], first_tap[3], steps[3];
  int channels_at_once;
  int block, blocks;
  int parts, part_rows;
  int pitch, is_narrow;
  int has_bias;
};

constexpr int narrowest_tile = 96;         // that has a kernel
constexpr int shortest_row = 16;           // of an image, that is worth going through rows
constexpr int narrow = 24;                 // of rows that do not fill a SIMD group
constexpr int elements_at_once = 1 << 16;  // of what is gathered, which a core's cache holds

// As in kernels/ConvolutionBlocks.metal.
constexpr int sums_at_once = 8, lanes = 32, widest = 128;

// Whether rows of an image do not fill a SIMD group, and where its elements are is a number of 31 bits.
bool is_narrow(const ConvolutionParams& params) {
  std::int64_t last = std::abs(params.gathered_column) * (params.column_sizes[0] - 1);
  for (int axis = 0; axis < 3; ++axis) last += std::abs(params.gathered[axis]) * (params.gathered_sizes[axis] - 1);
  return params.column_sizes[3] < narrow && last <= INT32_MAX;
}

// How columns and rows are divided, and what it costs.
struct Division {
  int width, parts;
  double cost;
};

// The cheapest of those that there are, in cycles, about: of products, and of what each part gathers.
Division cheapest_division(const ConvolutionParams& params, std::int64_t groups, int cores) {
  const double lines = is_narrow(params) ? 1 : 1 + static_cast<double>(lanes) / params.column_sizes[3];
  Division best{};
  for (int width = widest; width > 0; width -= lanes) {
    const double blocks = parts_of(params.columns, width);
    for (int parts = 1; parts <= std::min(parts_of(params.rows, sums_at_once), 2 * cores); ++parts) {
      const double rows = parts_of(parts_of(params.rows, parts), sums_at_once) * sums_at_once;
      const double each = params.depth * (2.3 * rows + 45 * lines) * width / lanes;
      const double cost = std::ceil(blocks * parts * static_cast<double>(groups) / cores) * each;
      if (best.width == 0 || cost < best.cost) best = {width, parts, cost};
    }
  }
  return best;
}

void convolve_in_float(const ConvolutionParams& params, std::int64_t groups, const at::Tensor& result,
                       const at::Tensor& matrix, const at::Tensor& gathered, const at::Tensor& bias, int cores) {
  const Division division = cheapest_division(params, groups, cores);
  BlocksParams own{};
  set_places(own, params);
  own.columns = params.columns;
  own.block = division.width;
  own.blocks = parts_of(params.columns, division.width);
  own.part_rows = parts_of(parts_of(own.rows, division.parts), sums_at_once) * sums_at_once;
  own.parts = parts_of(own.rows, own.part_rows);
  own.pitch = own.block + 16;  // so that rows do not meet in a cache
  own.is_narrow = is_narrow(params);
  const int taps = own.taps[0] * own.taps[1] * own.taps[2];
  own.channels_at_once = std::clamp(elements_at_once / (own.pitch * taps), 1, own.channels);
  const OrderedWeights weights = in_order(params, groups, matrix, result.options());
  own.matrix_group = weights.group;
  own.matrix_row = weights.row;

  const std::int64_t for_places = std::int64_t{own.channels_at_once} * taps * own.pitch,
                     for_sums = std::int64_t{own.part_rows} * own.pitch, items = std::int64_t{own.blocks} * own.parts;
  const std::int64_t each =
      parts_of(static_cast<int>(groups_for(items * groups, cores, for_places + for_sums)), static_cast<int>(groups));
  const at::Tensor places = at::empty({each * groups * for_places}, result.options());
  const at::Tensor sums = at::empty({each * groups * for_sums}, result.options());
  run(lib, "convolution_sums", {static_cast<std::uint64_t>(each) * lanes, 1, static_cast<std::uint64_t>(groups)},
      {lanes, 1, 1}, result, weights.matrix, gathered, bias.defined() ? bias : result, places, sums, own);
}

}  // namespace

double cost_of_sums(const ConvolutionParams& params, int cores) { return cheapest_division(params, 1, cores).cost; }

bool convolve_in_blocks(const ConvolutionParams& params, std::int64_t groups, const at::Tensor& result,
                        const at::Tensor& matrix, const at::Tensor& gathered, const at::Tensor& bias) {
  const auto cores = static_cast<int>(at::mps::MPSDevice::getInstance()->getCoreCount());
  if (result.scalar_type() == at::kFloat) {
    convolve_in_float(params, groups, result, matrix, gathered, bias, cores);
    return true;
  }
  const int width = width_of_tiles(params.columns, narrowest_tile), whole = (width + 31) / 32 * 32;
  BlocksParams own{};
  own.blocks = parts_of(params.columns, width);
  own.block = parts_of(params.columns, own.blocks);
  if (params.column_sizes[3] < shortest_row || own.blocks * groups < 2 * std::int64_t{cores}) return false;
  own.columns = params.columns;
  set_places(own, params);
  const int taps = own.taps[0] * own.taps[1] * own.taps[2];
  own.channels_at_once = std::clamp(elements_at_once / (whole * taps), 1, own.channels);
  const OrderedWeights weights = in_order(params, groups, matrix, result.options());
  own.matrix_group = weights.group;
  own.matrix_row = weights.row;

  const std::int64_t for_places = std::int64_t{own.channels_at_once} * taps * whole,
                     for_sums = std::int64_t{own.rows} * whole;
  const std::int64_t each = parts_of(static_cast<int>(groups_for(own.blocks * groups, cores, for_places + for_sums)),
                                     static_cast<int>(groups)),
                     all = each * groups;
  const at::Tensor places = at::empty({all * for_places}, result.options());
  const at::Tensor sums = at::empty({all * for_sums}, result.options().dtype(at::kFloat));
  const int rows = own.rows <= 16 ? 16 : own.rows <= 32 ? 32 : 64;
  run(lib,
      "convolution_blocks_" + std::to_string(rows) + "_" + std::to_string(width) + "_" +
          metal_type(result.scalar_type(), "convolution_mps"),
      {static_cast<std::uint64_t>(each) * 32, 1, static_cast<std::uint64_t>(groups)}, {32, 1, 1}, result,
      weights.matrix, gathered, bias.defined() ? bias : result, places, sums, own);
  return true;
}

}  // namespace metalloid::operators
