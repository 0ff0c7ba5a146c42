// Convolutions of many places, block by block of the result (kernels/ConvolutionBlocks.metal).
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#include <ATen/core/Tensor.h>
#include <ATen/mps/MPSDevice.h>
#include <ATen/native/mps/MetalShaderLibrary.h>
#include <ATen/ops/empty.h>

#include <ATen/native/mps/ConvolutionBlocks_metallib.h>

#include <algorithm>

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
  int has_bias;
};

constexpr int narrowest_tile = 96;         // that has a kernel
constexpr int shortest_row = 16;           // of an image, that is worth going through rows
constexpr int elements_at_once = 1 << 16;  // of what is gathered, which a core's cache holds

}  // namespace

bool convolve_in_blocks(const ConvolutionParams& params, std::int64_t groups, const at::Tensor& result,
                        const at::Tensor& matrix, const at::Tensor& gathered, const at::Tensor& bias) {
  const auto cores = static_cast<int>(at::mps::MPSDevice::getInstance()->getCoreCount());
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
